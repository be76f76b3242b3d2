/** Every bound of the harness: it never runs on, and never loads another machine. */
export const limits = {
  runsDefault: 5,
  runsMax: 50,
  connections: 64,
  parkedQueries: 10_000,
  /** One measurement of a steady load, and the warm-up before the first one. */
  steadyMs: 2_000,
  warmUpMs: 2_000,
  /** Jobs of one registration run. */
  registrations: 4_000,
  /** Configuration entries of one run. */
  config: { entries: 10_000 },
  /** Where they are placed; more than all runs together need at the default number of runs. */
  paperFleet: { nodes: 100, jobsEach: 250 },
  /** A million allocations; a start with them may take longer than one without. */
  million: {
    nodes: 5000,
    jobs: 1000,
    count: 1000,
    heapMb: 5500,
    youngMb: 128,
    lookAgainMs: 500,
    perPage: 1000,
  },
  /**
   * How long scheduling keeps others waiting: how often the same evaluations run at least, and what
   * is placed while an agent is asked, how often.
   */
  holds: {
    livesMin: 5,
    nodes: 1000,
    count: 50_000,
    warmUpCount: 5_000,
    path: '/v1/status/leader',
    everyMs: 10,
    lookAgainMs: 250,
  },
  /** Of one chain, and of all that stand beside each other. */
  discoveryChain: { entries: 1000, all: 10_000 },
  /** Size of the plans, and plans in one run. */
  plan: { nodes: 1000, count: 1000, groups: 100, repeats: 10 },
  /** How many jobs are listed, and how often in one run. */
  jobList: { jobs: 10_000, perPage: 100, repeats: 10 },
  /** One life of the simulator, and the one before the first that is measured. */
  simulator: { nodes: 100, hours: 1, warmUpHours: 0.25 },
  /** Transactions of one run of the state alone. */
  transactions: 100_000,
  /** Jobs of one run from POST to running. */
  runJobs: 10,
  /** Tasks of one node, how long they are watched being idle, and between two looks at their health. */
  nodeTasks: { tasks: 500, idleMs: 10_000, judgedPauseMs: 6_000 },
  /** A log that is followed: until all is warm, and how long it is then measured. */
  logFlood: { settleMs: 5_000, measureMs: 15_000, files: 4, fileMb: 10 },
  /** Clusters that peer with one server, and how long they are watched being idle. */
  peering: { peers: 50, idleMs: 60_000 },
  /** Commands in one task, of one run. */
  execSessions: 30,
  /** Instances that go to a new peer, of so many services; changes of one of them, of one run. */
  exchange: { instances: 10_000, services: 100, changes: 50 },
  /** A large job that is read. */
  jobModel: { groups: 100 },
  /** Work without a server: until it is warm, and how much of it one figure is the median of. */
  warmWork: { warmUpMs: 300, batches: 15, batchMs: 40 },
  /** What a restart finds: a job has four rows (job, version, summary, evaluation). */
  restartJobs: 25_000,
  /** Tokens of the server with many. */
  tokens: 100_000,
  /** What authorization adds: so many short loads of each kind in turns make one run. */
  authorizationSlices: 8,
  authorizationSliceMs: 250,
  /** How long an answer, a start, an end or any other condition may take. */
  answerMs: 60_000,
  startMs: 120_000,
  stopMs: 30_000,
  conditionMs: 300_000,
  /** Between two looks at something that cannot be awaited. */
  lookAgainMs: 20,
} as const;

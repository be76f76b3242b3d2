/** The bounds of the benchmarks. */
export const limits = {
  runsDefault: 5,
  runsMax: 50,
  connections: 64,
  parkedQueries: 10_000,
  /** A load that is measured, and the warm-up before a warm one. */
  loadSeconds: 3,
  warmUpSeconds: 2,
  /** Writes that measure the disk. */
  syncs: 500,
  /** Appends to a log, and the bytes of each: a registration alone, and many together. */
  logForms: { appends: 1_000, sizes: [2_048, 65_536] },
  /** Folders that measure what it takes to make files. */
  folders: 200,
  /** Nodes for the registered jobs, with more room than any run needs. */
  paperFleet: { nodes: 100, jobsEach: 1_000 },
  parking: { connectionsAtOnce: 200, lookAgainMs: 500 },
  /**
   * Readers: the queries that wait, the descriptors that are for others, the queries that may wait on a connection, the
   * pace and the connections of reads, the warm-up, the time that is measured, and the jobs whose memory is compared.
   */
  readers: {
    count: 2,
    queries: 50_000,
    spareDescriptors: 2_000,
    pipelinedMax: 3,
    perSecond: 2_000,
    everyMs: 5,
    connections: 64,
    warmUpMs: 2_000,
    measureMs: 10_000,
    jobs: 5_000,
  },
  decider: { nodes: 1000, count: 20_000, waiting: 300, waitingCount: 100 },
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
   * The delays by scheduling: least number of lives, and the jobs and requests of the measurement from
   * outside.
   */
  holds: {
    livesMin: 5,
    nodes: 1000,
    count: 50_000,
    warmUpCount: 5_000,
    path: '/v1/status/leader',
    everyMs: 10,
    lookAgainMs: 250,
    readers: 2,
  },
  /** Entries of a chain, and of all chains. */
  discoveryChain: { entries: 1000, all: 10_000 },
  /** Size of the plans, and plans in one run. */
  plan: { nodes: 1000, count: 1000, groups: 100, repeats: 10 },
  /** How many jobs are listed. */
  jobList: { jobs: 10_000, perPage: 100 },
  /** The measured tests of a run, and the tests that warm up. */
  libraryTest: { tests: 20, warmUp: 20 },
  /** The measured lives of the simulator, and the life that warms up. */
  simulator: { nodes: 100, hours: 1, warmUpHours: 0.25 },
  /** Several servers: writes after the leader has changed. */
  servers: { writesAround: 50 },
  /**
   * The web interface: the cluster that it shows, the registrations that change about ten rows each, and what is measured.
   */
  ui: {
    nodes: 1000,
    jobs: 10_000,
    count: 5,
    registrationsPerSecond: 20,
    paints: 10,
    probes: 20,
    /** Tabs at the same time, how often they are opened, and the slices of time that are measured with them and without. */
    tabs: 10,
    tabTurns: 5,
    tabSlices: 4,
    tabSliceMs: 5_000,
    /** The time from the last load of a tab to the measurement. */
    tabsSettledMs: 15_000,
    watchSeconds: 100,
    /** The time over which the heap grows, unless another is asked for, the looks at it, and the time before the first. */
    heapSeconds: 600,
    /** Its growth is judged over at least this time: over less, collections of the browser decide. */
    heapJudgedSeconds: 1_800,
    heapLooks: 20,
    heapWarmUpMs: 30_000,
    /** The time from a load to the count of connections. */
    settledMs: 2_000,
    /** Jobs with so many allocations each change at a pace that makes so many events a second. */
    eventFlood: { perSecond: 10_000, count: 500, seconds: 60 },
    logFlood: { megabytesPerSecond: 50, seconds: 30 },
    answerMs: 30_000,
  },
  /** A million allocations over etcd: the quota of etcd, and the time between two looks. */
  millionServers: { quotaGb: 8, lookAgainMs: 500 },
  /** Nodes on paper that register at the same time. */
  joiningAtOnce: 32,
  /** Jobs of a leader before it hands over, and instances of each. */
  takeOver: { nodes: 200, jobs: 100, count: 1_000, lookAgainMs: 500 },
  /** Transactions of one run of the state alone. */
  transactions: 100_000,
  /** Jobs of one run from POST to running. */
  runJobs: 10,
  /** Tasks of a job that start together. */
  runTasks: 100,
  /** Tasks of a node, the time of idling that is measured, and the pause between two checks of their health. */
  nodeTasks: { tasks: 500, idleMs: 10_000, judgedPauseMs: 6_000 },
  /**
   * A fleet of nodes over HTTP: its nodes and the processes that play them, the nodes of a process that register at the
   * same time, the mean time between two changes of a node's service, and the measured time at rest.
   */
  fleet: {
    nodes: 5_000,
    processes: 2,
    joiningAtOnce: 16,
    serviceEveryMs: 100_000,
    settleMs: 10_000,
    restMs: 30_000,
    lookAgainMs: 250,
  },
  /** Listeners of the event stream, the pace and number of the changes, and the connections that send them. */
  fleetEvents: { listeners: 1_000, everyMs: 5, changes: 2_000, senders: 16 },
  /** Following a log: the rest, after which the garbage of the start is gone, the warm-up, and the measured time. */
  logFlood: { restMs: 20_000, settleMs: 5_000, measureMs: 15_000, files: 4, fileMb: 10 },
  /**
   * Shape of growth: requests whose median is told, and the nodes and the instances of a job that allocations are
   * placed with.
   */
  grow: { repeats: 30, nodesOfAllocations: 200, instances: 100 },
  /** Clusters that peer with a server, and the time of idling that is measured. */
  peering: { peers: 50, idleMs: 60_000 },
  /** Commands of a run, all in the same task. */
  execSessions: 30,
  /** Instances and services that a new peer receives, and the changes of an instance in a run. */
  exchange: { instances: 10_000, services: 100, changes: 50 },
  /** A large job that is read. */
  jobModel: { groups: 100 },
  /** Rounds of work without a server: those of the warm-up, and those whose median is the figure. */
  warmWork: { warmUpMs: 300, batches: 15, batchMs: 40 },
  /** Rest of an agent before its memory is read, unless another is asked for. */
  restSeconds: 300,
  /** Rows at a restart: a job has four of them (job, version, summary, evaluation). */
  restartJobs: 25_000,
  /** Tokens of the server that has many of them. */
  tokens: 100_000,
  /** Changes of a run of the policy that all tokens have. */
  policyChanges: 10,
  /** Pause between two looks whether another program has started. */
  program: { lookAgainMs: 5 },
  /** The cost of authorization: loads of each kind in a run, in turns. */
  authorization: { turns: 6, seconds: 1 },
  /** How long an answer, a start, an end or any other condition may take. */
  answerMs: 60_000,
  startMs: 120_000,
  stopMs: 30_000,
  conditionMs: 900_000,
  /** Pause between two checks of a condition that cannot be awaited. */
  lookAgainMs: 20,
} as const;

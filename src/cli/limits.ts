const second = 1000;
const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** The limits of the command line: how much it prints, and how long it waits. */
export const cliLimits = {
  agent: {
    /** How long the welcome waits for the addresses of the first jobs' instances. */
    startingMaxMs: 10 * second,
    serversMax: 64,
    readersMax: 64,
  },
  check: { outputLengthMax: 100 },
  completion: { answerMs: 1500, idsMax: 200 },
  error: {
    /** Matching ids, or jobs with similar ids, that an error shows. */
    idsMax: 5,
  },
  debug: {
    /** Bounds of the duration and the interval. */
    leastMs: 1 * second,
    mostMs: 3600 * second,
    nodesMax: 10,
    logBytesMax: 32 * mebibyte,
    profileSecondsMax: 10,
  },
  fmt: { filesMax: 10_000 },
  job: {
    /** Children of a periodic or parameterized job in `job status`. */
    childrenMax: 10,
    /** The text of a value in a difference. */
    valueLengthMax: 200,
  },
  leaderless: {
    /** How long a request waits before the command tells that no server leads. */
    patienceMs: 2 * second,
    /** The longest wait for the health of a server. */
    answerMs: 5 * second,
  },
  log: {
    linesDefault: 10,
    /** How much of the end of a log is searched for its last lines: at first, and at most. */
    firstBytes: 16 * kibibyte,
    allBytesMax: 16 * mebibyte,
  },
  login: {
    /** More simultaneous requests than a person could make. */
    waitingMax: 8,
  },
  peering: {
    /** How long `peering establish` waits for the stream, which normally opens within a moment. */
    openingMs: 10 * second,
    servicesMax: 10,
  },
  snapshot: {
    /** Time between two looks at the progress. */
    progressMs: 200,
    /** Records of a page that `-against` asks for. */
    perPage: 5000,
  },
  start: {
    /** Up to this number, each starting allocation has its own lines; above it, each group has. */
    linesMax: 10,
  },
} as const;

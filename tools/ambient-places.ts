/** Ambient names, their substitutes, and the places that may touch them all the same. */

export type Kind =
  | 'clock'
  | 'timers'
  | 'turns'
  | 'random'
  | 'process'
  | 'files'
  | 'network'
  | 'programs'
  | 'threads'
  | 'machine'
  | 'database';

/** The end of the sentence "X is ambient: …". */
export const instead: Readonly<Record<Kind, string>> = {
  clock: 'take a Clock (src/base/ports.ts) as an argument',
  timers: 'take Timers (src/base/ports.ts) as an argument',
  turns: 'take Timers (src/base/ports.ts) as an argument and use soon()',
  random:
    'take Random for choices, Ids for names or Secrets for what nobody may guess ' +
    '(src/base/ports.ts) as an argument',
  process: 'take what it would tell as an argument, which main.ts or the command line passes in',
  files: 'files are for src/state/engine and the file access of src/node; take what those offer',
  network: 'HTTP is spoken by src/sdk/transport*.ts and served by src/api/http-server*.ts',
  programs: 'programs are started by src/node/drivers and src/node/supervisor',
  threads: 'threads are for src/state/engine, src/agent-thread.ts and src/main.ts',
  machine: 'the machine is described by src/node/fingerprint; take its facts as an argument',
  database: 'the database is behind the engine port: src/state/engine',
};

export interface Place {
  /** A glob of files. */
  readonly files: string;
  readonly may: readonly Kind[] | 'everything';
  readonly reason: string;
}

export const places: readonly Place[] = [
  {
    files: 'src/main.ts',
    may: 'everything',
    reason: 'the composition root: it makes the world that all others are given',
  },
  {
    files: 'src/library.ts',
    may: ['files'],
    reason: 'the composition root as a library: tells the version of its own package',
  },
  {
    files: 'sim/main.ts',
    may: ['clock', 'process'],
    reason: 'the command line of the simulator: tells how long a life took in real time',
  },
  {
    files: 'sim/kept-hashes.ts',
    may: ['files'],
    reason: 'the hashes of lives that one run of the simulator keeps for the next',
  },
  {
    files: 'sim/lives.ts',
    may: ['programs'],
    reason: 'lives of the simulator in processes of their own, which it starts',
  },
  {
    files: 'sim/worker.ts',
    may: ['process'],
    reason: 'the main file of such a process: is asked and answers as one, and ends with who asks',
  },
  {
    files: 'src/agent{,-api,-engines,-files,-node,-secrets,-servers,-telemetry}.ts',
    may: ['files', 'machine'],
    reason: 'the composition root as a library: makes the data directory, takes a world',
  },
  {
    files: 'src/agent-{memory,program}.ts',
    may: ['files', 'process', 'clock'],
    reason: 'the composition root: the process that an agent runs in, and the program that it is',
  },
  {
    files: 'src/agent-ui.ts',
    may: ['files', 'programs', 'process'],
    reason:
      'the composition root of the web interface: its files, which a checkout makes in another process',
  },
  {
    files: 'src/agent-{reader,readers,decider,thread}.ts',
    may: ['threads', 'process'],
    reason:
      'the composition root of readers and of the decider, which are threads, and where the agent starts them',
  },
  {
    files: 'src/server/snapshots/directory.ts',
    may: ['files'],
    reason: 'the directory of snapshots on a schedule',
  },
  {
    files: 'src/base/ports-real.ts',
    may: ['clock', 'timers', 'turns', 'random'],
    reason: 'the real ports are these calls',
  },
  {
    files: 'src/base/profiler.ts',
    may: ['process'],
    reason: 'takes profiles of the thread that it runs in',
  },
  {
    files: 'src/base/executable.ts',
    may: ['process'],
    reason: 'the file of the running program, which starts itself again for its other processes',
  },
  {
    files: 'src/base/marking.ts',
    may: ['clock'],
    reason: 'a part of the real timers: whether the collector marks, and for how long it has',
  },
  {
    files: 'src/base/ports-simulated.ts',
    may: ['turns'],
    reason: 'setImmediate lets the promises that are ready run out; no time passes in it',
  },
  {
    files: 'src/api/metrics/process.ts',
    may: ['clock', 'files'],
    reason:
      'how long the event loop of the process was busy is told by the runtime, and its open files by the kernel alone',
  },
  {
    files: 'src/state/engine/**',
    may: ['clock', 'timers', 'turns', 'files', 'threads', 'database', 'process'],
    reason: 'makes transactions durable, on threads of its own that get no ports',
  },
  {
    files: 'src/node/drivers/**',
    may: 'everything',
    reason: 'runs the tasks of a real machine; the simulator puts the mock driver in its place',
  },
  {
    files: 'src/node/fingerprint/**',
    may: ['process', 'files', 'network', 'programs', 'machine'],
    reason: 'finds out what a real machine has',
  },
  {
    files: 'src/node/supervisor/**',
    may: 'everything',
    reason: 'a process of its own, and the client of its socket',
  },
  {
    files:
      'src/node/{directories,files,held-directory,plain-file,remove-tree,spares,system-user}.ts',
    may: ['files'],
    reason: 'task directories, and the users of the machine',
  },
  {
    files: 'src/node/way-through.ts',
    may: ['files', 'process'],
    reason: 'opens the way to the directories of tasks that run as other users',
  },
  {
    files: 'src/node/directory-lock.ts',
    may: ['database'],
    reason: 'an empty database is the one lock that the runtime offers and the system lets go of',
  },
  {
    files: 'src/node/users/**',
    may: ['files', 'database'],
    reason: 'agents of one machine share its user ids: a file says which of them has which',
  },
  {
    files: 'src/node/hooks/artifacts/**',
    may: ['files', 'network', 'programs', 'process'],
    reason: 'fetches files over the network and out of repositories, and unpacks them',
  },
  {
    files: 'src/node/memory-mounts/**',
    may: ['files', 'programs'],
    reason: 'directories in memory are made by the system’s mount program',
  },
  {
    files: 'src/node/disks/**',
    may: ['files'],
    reason: 'what an allocation leaves to the one that follows it is files',
  },
  {
    files: 'src/node/{logs,allocation-files}/**',
    may: ['files'],
    reason: 'logs are files, and so is what tasks leave beside them',
  },
  {
    files: 'src/node/change-watch.ts',
    may: ['files'],
    reason: 'wakes who follows a file',
  },
  {
    files: 'src/node/statistics/**',
    may: ['files'],
    reason: 'the kernel tells in /proc what processes and the machine use',
  },
  {
    files: 'src/node/hooks/services/probes/**',
    may: ['network'],
    reason: 'checks of services ask them over the network; a simulator passes its own probe in',
  },
  {
    files: 'src/node/allocation-runner/{files,saved-allocation}.ts',
    may: ['files'],
    reason: 'what a node remembers of an allocation while its agent is away',
  },
  {
    files: 'src/cli/**',
    may: ['process', 'files'],
    reason: 'a command reads its arguments, environment and files; its timers come from ports',
  },
  {
    files: 'src/cli/agent/service-manager.ts',
    may: ['programs', 'process'],
    reason: 'systemd is told by its own program, and by the clock of the machine',
  },
  {
    files: 'src/cli/login/browser.ts',
    may: ['network', 'programs'],
    reason: 'a login opens the browser and waits for it to come back',
  },
  {
    files: 'src/cli/system-pager.ts',
    may: ['programs'],
    reason: 'long output is shown by the pager of the user',
  },
  {
    files: 'src/api/http-server*.ts',
    may: ['network', 'clock', 'turns'],
    reason:
      'the one adapter between handlers and sockets, which live in the turns of the real event loop',
  },
  {
    files: 'src/api/audit-file.ts',
    may: ['files'],
    reason: 'the audit log is a file that is only ever appended to',
  },
  {
    files: 'src/sdk/transport*.ts',
    may: ['network'],
    reason: 'the one place where the client sends a request',
  },
  {
    files: 'src/sdk/transport-{connections,http}.ts',
    may: ['timers'],
    reason: 'the times within which an answer and its pieces have to come',
  },
  {
    files: 'src/sdk/transport-connections.ts',
    may: ['process'],
    reason: 'loads TLS once a server speaks it',
  },
  {
    files: 'src/sdk/{pause,repeats}-real.ts',
    may: ['random', 'timers'],
    reason:
      'the keys of writes of the client, the pauses before it sends a write again, and its first server of several',
  },
];

/** Modules that are ambient as a whole. Types may be imported from them. */
export const ambientModules: Readonly<Record<string, Kind>> = {
  child_process: 'programs',
  cluster: 'programs',
  dgram: 'network',
  dns: 'network',
  'dns/promises': 'network',
  fs: 'files',
  'fs/promises': 'files',
  http: 'network',
  http2: 'network',
  https: 'network',
  inspector: 'process',
  'inspector/promises': 'process',
  net: 'network',
  os: 'machine',
  perf_hooks: 'clock',
  process: 'process',
  sqlite: 'database',
  timers: 'timers',
  'timers/promises': 'timers',
  tls: 'network',
  worker_threads: 'threads',
};

/** Names of ambient modules that are constants. */
export const constants: Readonly<Record<string, readonly string[]>> = {
  fs: ['constants'],
  http: ['METHODS', 'STATUS_CODES'],
  os: ['EOL', 'constants'],
};

/** Names of node:crypto that draw on the system's random. The others compute. */
export const ambientCrypto: readonly string[] = [
  'getRandomValues',
  'randomBytes',
  'randomFill',
  'randomFillSync',
  'randomInt',
  'randomUUID',
  'generateKey',
  'generateKeyPair',
  'generateKeyPairSync',
  'generateKeySync',
  'webcrypto',
];

export interface AmbientGlobal {
  readonly kind: Kind;
  /** The members that are ambient; absent where any use is. */
  readonly members?: readonly string[];
}

export const ambientGlobals: Readonly<Record<string, AmbientGlobal>> = {
  // `new Date()` and `Date()` are looked for apart: with an argument they only compute.
  Date: { kind: 'clock', members: ['now'] },
  performance: { kind: 'clock' },
  setTimeout: { kind: 'timers' },
  setInterval: { kind: 'timers' },
  setImmediate: { kind: 'turns' },
  AbortSignal: { kind: 'timers', members: ['timeout'] },
  Math: { kind: 'random', members: ['random'] },
  crypto: { kind: 'random', members: ['getRandomValues', 'randomUUID', 'subtle'] },
  process: {
    kind: 'process',
    members: [
      'abort',
      'argv',
      'chdir',
      'cwd',
      'env',
      'execPath',
      'exit',
      'exitCode',
      'getuid',
      'hrtime',
      'kill',
      'off',
      'on',
      'once',
      'pid',
      'ppid',
      'stderr',
      'stdin',
      'stdout',
      'umask',
      'uptime',
      'getBuiltinModule',
    ],
  },
  fetch: { kind: 'network' },
  WebSocket: { kind: 'network' },
  EventSource: { kind: 'network' },
};

/**
 * The `roster` command, and the library, which exports `createAgent`. Only this file, `agent.ts` and
 * `agent-node.ts` know every layer.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ServerCertificate } from './api/server-certificate.ts';
import { collectorLimits } from './base/limits.ts';
import { saveMemoryAtRest } from './base/memory-saver.ts';
import { delay } from './base/ports.ts';
import { realWorld } from './base/ports-real.ts';
import type { EtcdOptions } from './cli/agent/engine-settings.ts';
import type { KeyServiceOptions } from './cli/agent/keyring-settings.ts';
import { logOptions } from './cli/agent/log-options.ts';
import type { AgentOptions, TlsFiles } from './cli/agent/options.ts';
import { CliError } from './cli/errors.ts';
import type { EngineCommands } from './cli/operator/engines.ts';
import { processEnvironment } from './cli/process-environment.ts';
import { runCli } from './cli/run-cli.ts';
import { unreadableReason } from './cli/unreadable.ts';
import { closeInheritedDescriptors } from './node/supervisor/inherited-descriptors.ts';
import type { Log } from './server/context.ts';
import type { KeyService } from './server/keyring/key-service.ts';
import type { EtcdSettings } from './state/engine/etcd/open.ts';

export type { Agent, CreateAgentOptions } from './agent.ts';

/** Loads the agent only when needed, since most commands are only clients of an agent. */
export async function createAgent(
  options: import('./agent.ts').CreateAgentOptions,
): Promise<import('./agent.ts').Agent> {
  return (await import('./agent.ts')).createAgent({ version: readVersion(), ...options });
}

function readVersion(): string {
  const manifest = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** Runs an agent until a signal ends it. Resolves with the exit code. */
const startAgent = (options: AgentOptions): Promise<number> => keptAlive(() => runAgent(options));

async function runAgent(options: AgentOptions): Promise<number> {
  closeInheritedDescriptors();
  // Tasks and other programs must not inherit it.
  delete process.env.ROSTER_ROOT_KEY;
  const { default: pino } = await import('pino');
  const log = pino({ name: 'roster', ...logOptions(options.logLevel) }, pino.destination(2));
  let running: Running | undefined;
  // A second signal kills tasks that have to end with the agent.
  const ended = firstSignal(async () => {
    if (options.tasksOnExit === 'stop') await running?.killTasks();
  }, options.tls !== undefined);
  const ending = new AbortController();
  void ended.then((signal) => ending.abort(new Error(signal)));
  if (options.tls !== undefined) process.on('SIGHUP', () => void running?.renew?.());
  if (options.etcd !== undefined) collectBuffersWithHeap();
  try {
    running = await (options.mode === 'node'
      ? startNode(options, log)
      : startServer(options, log, ending.signal));
  } catch (error) {
    if (ending.signal.aborted) return 0;
    process.stderr.write(`roster: ${startFault(error as NodeJS.ErrnoException, options)}\n`);
    return 1;
  }
  saveMemoryAtRest({
    timers: realWorld.timers,
    utilization: loopUtilization(),
    save: collectAtRest,
    collect: collectGarbage,
  });
  await Promise.race([running.tell(ended.then(() => undefined)), ended]);
  const signal = await ended;
  process.stdout.write(`\nRoster ends (${signal})\n`);
  await running.close(options.tasksOnExit);
  return 0;
}

/**
 * Lets buffers outside of the heap begin a collection only as the heap itself does. By default the whole heap is marked
 * whenever some 64 MB of them are new, and gRPC makes a new buffer for all that is sent to etcd.
 */
function collectBuffersWithHeap(): void {
  // The V8 of an older Node does not know the flag, and would print so.
  if (Number.parseInt(process.versions.node, 10) < 24) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** At rest, keeps the heap small, and lets this thread mark as well, since no request waits. */
function collectAtRest(isAtRest: boolean): void {
  for (const flag of ['memory-saver-mode', 'incremental-marking-task']) {
    setFlagsFromString(isAtRest ? `--${flag}` : `--no-${flag}`);
  }
}

/** Collects all garbage of a small heap, and gives its pages back. */
function collectGarbage(): void {
  if (process.memoryUsage().heapUsed > collectorLimits.idleHeapBytesMax) return;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  void collect({ type: 'major', execution: 'async', flavor: 'last-resort' });
}

/** The utilization of this thread's event loop since the last call. */
function loopUtilization(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

interface Running extends Pick<import('./agent.ts').Agent, 'close' | 'killTasks'> {
  /** Reads the certificate again; absent without TLS. */
  renew?(): Promise<void>;
  /** Prints that the agent is ready, unless it `ended` before. */
  tell(ended: Promise<undefined>): Promise<void>;
}

/** A server, with a node unless the mode is `server`. */
async function startServer(options: AgentOptions, log: Log, signal: AbortSignal): Promise<Running> {
  const { parseRootKey, parseRootToken } = await import('./agent-secrets.ts');
  const { isDev, http, rootKeyFile, audit, allowedHosts } = options;
  const { rootTokenFile } = options;
  const rootToken =
    rootTokenFile === undefined
      ? options.rootToken
      : parseRootToken(await readNamed(rootTokenFile));
  const keyText = rootKeyFile === undefined ? options.rootKey : await readNamed(rootKeyFile);
  const rootKey =
    keyText === undefined
      ? options.keyService && (await keyServiceOf(options.keyService))
      : parseRootKey(keyText);
  const { caFile } = options.peering;
  const peerAuthority = caFile === undefined ? undefined : await readNamed(caFile);
  const { name, datacenter } = options.node;
  const { tls } = options;
  const certificate = tls && (await readCertificate(tls));
  const agent = await createAgent({
    ...nodeOptionsOf(options, log),
    certificate,
    http,
    etcd: options.etcd && (await etcdOf(options.etcd)),
    ...(options.etcd && { network: networkOf(options.etcd) }),
    rootToken,
    allowedHosts,
    makesRootToken: isDev && options.aclEnabled,
    aclEnabled: options.aclEnabled,
    aclDefaultPolicy: options.aclDefaultPolicy,
    ...(rootKey && { rootKey }),
    signal,
    audit: audit && { ...audit, to: audit.to === 'stdout' ? standardOutput : audit.to },
    issuer: options.issuer,
    advertise: options.peering.advertise,
    ...(peerAuthority !== undefined && { peerAuthority }),
    garbage: options.garbage,
    snapshots: options.snapshots,
    ...(options.mode === 'server' && { node: undefined, server: { name, datacenter } }),
  });
  const renew = async (): Promise<void> => {
    try {
      if (tls !== undefined) agent.renewCertificate(await readCertificate(tls));
      log.info({}, 'the certificate was read anew');
    } catch (error) {
      log.error({ error }, 'the certificate could not be renewed: the one before stays in use');
    }
  };
  return {
    ...(tls !== undefined && { renew }),
    close: agent.close,
    killTasks: agent.killTasks,
    async tell(ended) {
      const { readiness, runFirstJobs, welcome } = await import('./cli/agent/first-jobs.ts');
      process.stdout.write(readiness(agent));
      const reached = {
        address: agent.address,
        token: agent.rootToken,
        ...agent.trust,
        isTokenGiven: rootToken !== undefined,
      };
      const registered = runFirstJobs(reached, options.run, realWorld.timers);
      const told = await Promise.race([registered, ended]);
      if (isDev && told !== undefined) process.stdout.write(welcome(reached, options.run, told));
    },
  };
}

/** A node alone, which tries its servers until one answers. */
async function startNode(options: AgentOptions, log: Log): Promise<Running> {
  const { addresses, introductionTokenFile, caCertificateFile } = options.servers;
  const { clientCertificateFile, clientKeyFile } = options.servers;
  const { startNode: start } = await import('./agent-node.ts');
  const [introduction, caCertificate, clientCertificate, clientKey] = await Promise.all(
    [introductionTokenFile, caCertificateFile, clientCertificateFile, clientKeyFile].map(
      (path) => path && readNamed(path),
    ),
  );
  const node = await start(nodeOptionsOf(options, log), {
    addresses,
    caCertificate,
    clientCertificate,
    clientKey,
    ...(introduction !== undefined && { introduction: async () => introduction.trim() }),
  });
  return {
    close: node.close,
    killTasks: node.killTasks,
    async tell(ended) {
      const isIn = await Promise.race([node.registered().then(() => true), ended]).catch(
        () => false,
      );
      if (isIn) process.stdout.write(`Roster is ready as node ${node.id} of ${node.server}\n`);
    },
  };
}

async function keyServiceOf(options: KeyServiceOptions): Promise<KeyService> {
  const { url, key, wrappedKeyFile, tokenFile, caFile } = options;
  return {
    url,
    key,
    wrappedKey: (await readNamed(wrappedKeyFile)).trim(),
    token: async () => (await readNamed(tokenFile)).trim(),
    caCertificate: caFile === undefined ? '' : await readNamed(caFile),
  };
}

/** Moves the state between the data directory and etcd. @throws CliError */
const migrateEngine: EngineCommands['migrate'] = ({ to, dataDirectory, etcd }, progress) =>
  offline(async () => {
    const { migrateStores } = await import('./agent-engines.ts');
    const settings = await etcdOf(etcd);
    return migrateStores({ to, dataDirectory, etcd: settings, world: realWorld, progress });
  });

/** The way out after the log in etcd has diverged. @throws CliError */
const recoverEngine: EngineCommands['recover'] = ({ from, dataDirectory, etcd }) =>
  offline(async () => {
    const { recoverStores } = await import('./agent-engines.ts');
    const settings = await etcdOf(etcd);
    const version = readVersion();
    return recoverStores({ from, dataDirectory, etcd: settings, world: realWorld, version });
  });

/** Tells an error in words for the user. */
async function offline<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await keptAlive(run);
  } catch (error) {
    // Any other class is that of a bug.
    const isPlain = error instanceof Error && (error.constructor === Error || 'code' in error);
    throw isPlain ? new CliError(sentence(error.message)) : error;
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/**
 * Keeps the process alive until the work has ended. None of the program's timers does, and Node would end a
 * process that waits for nothing but a timer.
 */
async function keptAlive<T>(run: () => Promise<T>): Promise<T> {
  // Not in limits: the interval only has to be long.
  const alive = setInterval(() => {}, 1 << 30);
  try {
    return await run();
  } finally {
    clearInterval(alive);
  }
}

async function etcdOf(etcd: EtcdOptions): Promise<EtcdSettings> {
  const { endpoints, prefix, quotaBytes, user } = etcd;
  const [authorities, certificate, privateKey, password] = await Promise.all(
    [etcd.caFile, etcd.certificateFile, etcd.keyFile, etcd.passwordFile].map((path) =>
      path === undefined ? undefined : readNamed(path),
    ),
  );
  return {
    endpoints,
    prefix,
    quotaBytes,
    ...(etcd.usesTls && { tls: { authorities, certificate, privateKey } }),
    ...(user !== undefined && { login: { user, password: (password ?? '').trimEnd() } }),
  };
}

const networkOf = ({ advertise, allowsPlaintext }: EtcdOptions) => ({
  allowsPlaintext,
  ...(advertise !== undefined && { address: advertise }),
});

async function readCertificate(tls: TlsFiles): Promise<ServerCertificate> {
  const { certificateFile, keyFile, authorityFile, verifiesClients } = tls;
  const [certificate, privateKey, authorities] = await Promise.all([
    readNamed(certificateFile),
    readNamed(keyFile),
    authorityFile === undefined ? undefined : readNamed(authorityFile),
  ]);
  return { certificate, privateKey, authorities, verifiesClients };
}

/** The text of a file that a setting names. @throws Error with the path and the reason */
async function readNamed(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`"${path}" cannot be read: ${unreadableReason(error as Error)}`);
  }
}

/** The options of a node, beside a server or alone. */
function nodeOptionsOf(options: AgentOptions, log: Log) {
  const { class: nodeClass, pool: nodePool, name, ...node } = options.node;
  return {
    dataDirectory: options.dataDirectory,
    log,
    environment: process.env,
    region: options.region,
    version: readVersion(),
    artifacts: options.artifacts,
    drivers: options.drivers,
    isolation: options.isolation,
    docker: options.docker,
    node: {
      ...node,
      nodeClass,
      nodePool,
      ...(name !== undefined && { name }),
      // With --dev, tasks are only reachable from this machine.
      ...(options.isDev && { address: '127.0.0.1' }),
    },
  };
}

/** A sink for the audit log on standard output. */
const standardOutput = { write: (line: string) => void process.stdout.write(line) };

/** Not in limits: the patience after a second signal. */
const hurryTimeoutMs = 2_000;

/**
 * Resolves with the first signal. A second signal, at least a second later, ends the process after
 * `hurry`; a third ends it at once.
 */
function firstSignal(hurry: () => Promise<void>, isHangUpTaken: boolean): Promise<NodeJS.Signals> {
  const { clock, timers } = realWorld;
  const exit = () => process.exit(130);
  let hurries = false;
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const nowMs = clock.monotonicMs();
      firstMs ??= nowMs;
      // npm repeats a Ctrl-C that the terminal has delivered already.
      if (nowMs - firstMs <= 1_000) return resolve(signal);
      if (hurries) exit();
      hurries = true;
      void Promise.race([hurry(), delay(timers, hurryTimeoutMs)]).then(exit, exit);
    };
    const signals = ['SIGINT', 'SIGTERM'] as const;
    for (const signal of signals) process.on(signal, onSignal);
    if (!isHangUpTaken) process.on('SIGHUP', onSignal);
  });
}

/** The reason of a failed start, with advice. */
function startFault(error: NodeJS.ErrnoException, { http }: AgentOptions): string {
  const where = `${http.host}:${http.port}`;
  if (error.code === 'EADDRINUSE') {
    return `the port ${http.port} is in use on ${http.host}: end what listens on ${where}, or choose another address with --http HOST:PORT`;
  }
  if (error.code === 'EACCES' && error.syscall === 'listen') {
    return `this user may not listen on ${where}: choose a port from 1024 on with --http HOST:PORT`;
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return `this machine has no address ${http.host}: choose one that it has with --http HOST:PORT`;
  }
  return error.message;
}

if (import.meta.main) {
  const version = readVersion();
  const engines = { migrate: migrateEngine, recover: recoverEngine };
  const environment = processEnvironment(process, {
    startAgent,
    engines,
    version,
    world: realWorld,
  });
  process.exitCode = await runCli(process.argv.slice(2), environment);
}

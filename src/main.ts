/**
 * The `roster` command, and the library, which exports `createAgent`. Only this file, `agent.ts` and
 * `agent-node.ts` know every layer.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { readCertificate, readNamed, readRightTrust, readTrust } from './agent-files.ts';
import { saveProcessMemory } from './agent-memory.ts';
import { commandName, readBuild } from './agent-program.ts';
import type { ReloadedParts } from './agent-reload.ts';
import type { Reload } from './api/reload.ts';
import type { ServerCertificate } from './api/server-certificate.ts';
import { isInExecutable } from './base/executable.ts';
import { logOptions } from './base/log-options.ts';
import { realWorld } from './base/ports-real.ts';
import type { ConfiguredAgent } from './cli/agent/configured-agent.ts';
import type { EtcdOptions } from './cli/agent/engine-settings.ts';
import type { KeyServiceOptions } from './cli/agent/keyring-settings.ts';
import type { AgentOptions } from './cli/agent/options.ts';
import { readiness } from './cli/agent/readiness.ts';
import { shownSettings } from './cli/agent/shown-settings.ts';
import { firstSignal } from './cli/agent/signals.ts';
import { startFault } from './cli/agent/start-fault.ts';
import { CliError } from './cli/errors.ts';
import type { EngineCommands } from './cli/operator/engines.ts';
import { processEnvironment } from './cli/process-environment.ts';
import { runCli } from './cli/run-cli.ts';
import { closeInheritedDescriptors } from './node/supervisor/inherited-descriptors.ts';
import type { TrustedTexts } from './sdk/tls-trust.ts';
import type { Log } from './server/context.ts';
import type { KeyService } from './server/keyring/key-service.ts';
import { threadsFor } from './server/readers/count.ts';
import type { Engine } from './state/engine/engine.ts';
import type { EtcdSettings } from './state/engine/etcd/open.ts';

export type * from './library.ts';
export { createAgent } from './library.ts';

/** Runs an agent until a signal ends it. Resolves with the exit code. */
const startAgent = (options: AgentOptions, configured: ConfiguredAgent): Promise<number> =>
  keptAlive(() => runAgent(options, configured));

async function runAgent(options: AgentOptions, configured: ConfiguredAgent): Promise<number> {
  closeInheritedDescriptors();
  // Tasks and other programs must not inherit it.
  delete process.env.ROSTER_ROOT_KEY;
  const { default: pino } = await import('pino');
  const written = pino({ name: 'roster', ...logOptions(options.logLevel) }, pino.destination(2));
  const { monitored } = await import('./model/monitor/log-lines.ts');
  const log = monitored(written, realWorld.clock);
  const { Reloader } = await import('./agent-reload.ts');
  const reloader = new Reloader(configured, log);
  const reloadsAtHangUp = options.tls !== undefined || configured.source.hasFiles;
  let running: Running | undefined;
  // A second signal kills tasks that have to end with the agent.
  const ended = firstSignal(realWorld, reloadsAtHangUp, async () => {
    if (options.tasksOnExit === 'stop') await running?.killTasks();
  });
  const ending = new AbortController();
  void ended.then((signal) => ending.abort(new Error(signal)));
  const systemd = await systemdOf(log);
  const reload = async () => {
    systemd?.reloading();
    await reloader.reloadAt('SIGHUP');
    if (running !== undefined) systemd?.ready(running.sentence);
  };
  if (reloadsAtHangUp) process.on('SIGHUP', () => void reload());
  saveProcessMemory(realWorld.timers, { hasEtcd: options.etcd !== undefined });
  try {
    running = await (options.mode === 'node'
      ? startNode(options, log, reloader.reload)
      : startServer(options, log, {
          signal: ending.signal,
          reload: reloader.reload,
          configuration: () => shownSettings(reloader.settings),
        }));
  } catch (error) {
    if (ending.signal.aborted) return 0;
    process.stderr.write(`roster: ${startFault(error as NodeJS.ErrnoException, options)}\n`);
    return 1;
  }
  reloader.use({
    ...running.reloaded,
    setLogLevel: (level) => {
      written.level = level;
    },
  });
  systemd?.ready(running.sentence);
  await Promise.race([running.tell(ended.then(() => undefined)), ended]);
  const signal = await ended;
  const told = systemd?.stopping();
  process.stdout.write(`\nRoster ends (${signal})\n`);
  await running.close(options.tasksOnExit);
  await told;
  return 0;
}

/** systemd, if it started the agent and waits for its messages. */
async function systemdOf(log: Log) {
  if (process.env.NOTIFY_SOCKET === undefined) return undefined;
  const { serviceManager } = await import('./cli/agent/service-manager.ts');
  const onError = (error: Error) => log.warn({ error }, 'systemd could not be told');
  return serviceManager({ env: process.env, timers: realWorld.timers, onError });
}

interface Running extends Pick<import('./agent.ts').Agent, 'close' | 'killTasks'> {
  /** Tells systemd what runs. */
  readonly sentence: string;
  readonly reloaded: Omit<ReloadedParts, 'setLogLevel'>;
  /** Prints that the agent is ready, unless it `ended` before. */
  tell(ended: Promise<undefined>): Promise<void>;
}

interface ServerPorts {
  readonly signal: AbortSignal;
  readonly reload: Reload;
  /** The settings that are in use, without secrets. */
  readonly configuration: () => object;
}

/** A server, with a node unless the mode is `server`. */
async function startServer(options: AgentOptions, log: Log, ports: ServerPorts): Promise<Running> {
  const engine = await preparedEngine(options);
  const { parseRootKey, parseRootToken } = await import('./agent-secrets.ts');
  const { isDev, http, rootKeyFile, rootTokenFile, audit, allowedHosts, tls } = options;
  const rootToken =
    rootTokenFile === undefined
      ? options.rootToken
      : parseRootToken(await readNamed(rootTokenFile));
  const keyText = rootKeyFile === undefined ? options.rootKey : await readNamed(rootKeyFile);
  const rootKey =
    keyText === undefined
      ? options.keyService && (await keyServiceOf(options.keyService))
      : parseRootKey(keyText, rootKeyFile);
  const { caFile } = options.peering;
  const peerAuthority = caFile === undefined ? undefined : await readNamed(caFile);
  const { name, datacenter } = options.node;
  const certificate = tls && (await readCertificate(tls));
  // Loaded only now, since most commands are only clients of an agent.
  const { createAgent } = await import('./agent.ts');
  const agent = await createAgent({
    ...nodeOptionsOf(options, log),
    telemetry: options.telemetry,
    certificate,
    http,
    etcd: options.etcd && (await etcdOf(options.etcd)),
    ...(options.etcd && { network: networkOf(options.etcd), staleMaxMs: options.etcd.staleMaxMs }),
    ...(engine && { engine }),
    ...chosenThreads(options, log),
    rootToken,
    allowedHosts,
    makesRootToken: isDev && options.aclEnabled,
    aclEnabled: options.aclEnabled,
    aclDefaultPolicy: options.aclDefaultPolicy,
    ...(rootKey && { rootKey }),
    ...ports,
    audit: audit && { ...audit, to: audit.to === 'stdout' ? standardOutput : audit.to },
    issuer: options.issuer,
    advertise: options.peering.advertise,
    ...(peerAuthority !== undefined && { peerAuthority }),
    garbage: options.garbage,
    snapshots: options.snapshots,
    ui: options.ui,
    ...(options.mode === 'server' && { node: undefined, server: { name, datacenter } }),
  });
  return {
    sentence: readiness(agent).trimEnd(),
    reloaded: reloadedParts(agent, certificate),
    close: agent.close,
    killTasks: agent.killTasks,
    async tell(ended) {
      process.stdout.write(readiness(agent));
      const { runFirstJobs, signInLink, welcome } = await import('./cli/agent/first-jobs.ts');
      const reached = {
        address: agent.address,
        token: agent.rootToken,
        ...agent.trust,
        isTokenGiven: rootToken !== undefined,
        command: commandName,
      };
      const registered = runFirstJobs(reached, options.run, realWorld.timers);
      const told = await Promise.race([registered, ended]);
      if (!isDev || told === undefined) return;
      const link = await Promise.race([signInLink(reached), ended]);
      process.stdout.write(welcome({ ...reached, signInLink: link }, options.run, told));
    },
  };
}

const reloadedParts = (
  { configure, auditSignal, renewCertificate: renew }: import('./agent.ts').Agent,
  first: ServerCertificate | undefined,
): Running['reloaded'] => ({
  configure,
  auditSignal,
  certificate: first && { first, read: async ({ tls }) => tls && readCertificate(tls), renew },
});

/** The store in the data directory, if there is to be one. Its thread starts while the agent is loaded. */
async function preparedEngine({ dataDirectory, etcd }: AgentOptions): Promise<Engine | undefined> {
  if (dataDirectory === undefined || etcd !== undefined) return undefined;
  const { SqliteEngine } = await import('./state/engine/sqlite.ts');
  const directory = storeOf(dataDirectory);
  const engine = new SqliteEngine({ directory, program: readBuild().version });
  engine.prepare();
  return engine;
}

const storeOf = (dataDirectory: string): string => resolve(dataDirectory, 'server');

/** The threads of a server. Settings that do not tell are chosen to suit the machine. */
function chosenThreads(
  { dataDirectory, etcd, readers, decider }: AgentOptions,
  log: Log,
): { readonly readers: number; readonly decider: boolean } {
  if (readers !== undefined && decider !== undefined) return { readers, decider };
  const storedBytes = dataDirectory === undefined ? 0 : bytesIn(storeOf(dataDirectory));
  const room = { processors: availableParallelism(), memoryBytes: totalmem(), storedBytes };
  // Elsewhere threads cannot share a port, and servers on etcd have no readers.
  const sharesPorts = etcd === undefined && process.platform === 'linux';
  const chosen = threadsFor(room, { readers: readers ?? (sharesPorts ? undefined : 0), decider });
  log.info({ ...chosen, ...room }, 'threads are chosen for this machine');
  return chosen;
}

/** The store is being opened meanwhile, which makes files and removes them. */
function bytesIn(directory: string): number {
  if (!existsSync(directory)) return 0;
  return readdirSync(directory)
    .map((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

/** A node alone, which tries its servers until one answers. */
async function startNode(options: AgentOptions, log: Log, reload: Reload): Promise<Running> {
  const { addresses, introductionTokenFile: file } = options.servers;
  const { startNode: start } = await import('./agent-node.ts');
  const introduction = file === undefined ? undefined : await readNamed(file);
  const first = await readTrust(options);
  let trust = first;
  const node = await start(
    { ...nodeOptionsOf(options, log), reload, telemetry: options.telemetry },
    {
      addresses,
      current: () => trust,
      ...(introduction !== undefined && { introduction: async () => introduction.trim() }),
    },
  );
  const renew = (next: TrustedTexts): void => {
    trust = next;
  };
  return {
    // Its tasks go on whether or not a server answers.
    sentence: `Runs as a node alone of ${addresses.join(', ')}`,
    reloaded: { configure: node.configure, trust: { first, read: readRightTrust, renew } },
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

/** Work on stores while no agent runs. Each rejects with `CliError`. */
const engines: EngineCommands = {
  migrate: ({ etcd, ...options }, progress) =>
    offline(async ({ migrateStores }, own) =>
      migrateStores({ ...options, ...own, etcd: await etcdOf(etcd), progress }),
    ),
  recover: ({ etcd, ...options }) =>
    offline(async ({ recoverStores }, own) =>
      recoverStores({ ...options, ...own, etcd: await etcdOf(etcd) }),
    ),
  checkStore: (options, progress) =>
    offline(({ checkStore }, own) => checkStore({ ...options, ...own, progress })),
  repairStore: (options, progress) =>
    offline(({ repairStore }, own) => repairStore({ ...options, ...own, progress })),
};

type Engines = typeof import('./agent-engines.ts');

/** Tells an error in words for the user. */
async function offline<T>(
  run: (engines: Engines, own: { world: typeof realWorld; version: string }) => Promise<T>,
): Promise<T> {
  const own = { world: realWorld, version: readBuild().version };
  try {
    return await keptAlive(async () => run(await import('./agent-engines.ts'), own));
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
  const { endpoints, prefix, quotaBytes, user, passwordFile = '' } = etcd;
  const [authorities, certificate, privateKey] = await Promise.all(
    [etcd.caFile, etcd.certificateFile, etcd.keyFile].map((path) =>
      path === undefined ? undefined : readNamed(path),
    ),
  );
  const tls = { authorities, certificate, privateKey };
  if (etcd.usesTls) (await import('./agent-certificate.ts')).requireRightForEtcd(tls);
  const password = async () => (await readNamed(passwordFile)).trimEnd();
  // Faults of the file are told before anything is begun.
  if (user !== undefined) await password();
  return {
    endpoints,
    prefix,
    quotaBytes,
    ...(etcd.usesTls && { tls }),
    ...(user !== undefined && { login: { user, password } }),
  };
}

const networkOf = ({ advertise, allowsPlaintext }: EtcdOptions) => ({
  allowsPlaintext,
  ...(advertise !== undefined && { address: advertise }),
});

/** The options of a node, beside a server or alone. */
function nodeOptionsOf(options: AgentOptions, log: Log) {
  const { class: nodeClass, pool: nodePool, name, ...node } = options.node;
  return {
    dataDirectory: options.dataDirectory,
    log,
    environment: process.env,
    region: options.region,
    version: readBuild().version,
    artifacts: options.artifacts,
    drivers: options.drivers,
    isolation: options.isolation,
    docker: options.docker,
    node: {
      // With --dev, tasks are only reached from this machine.
      ...(options.isDev && { address: '127.0.0.1' }),
      ...node,
      nodeClass,
      nodePool,
      ...(name !== undefined && { name }),
    },
  };
}

/** A sink for the audit log on standard output. */
const standardOutput = { write: (line: string) => void process.stdout.write(line) };

if (import.meta.main || isInExecutable(import.meta.url)) {
  const platform = `${process.platform}-${process.arch}`;
  const build = { ...readBuild(), node: process.versions.node, platform };
  const environment = processEnvironment(process, {
    startAgent,
    engines,
    build,
    world: realWorld,
  });
  process.exitCode = await keptAlive(() => runCli(process.argv.slice(2), environment));
}

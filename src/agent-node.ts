/**
 * The node of an agent: beside a server in the same process, or alone with servers elsewhere.
 * It uses HTTP in both cases.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { TelemetrySettings } from './agent-telemetry.ts';
import type { Family } from './api/metrics/family.ts';
import type { World } from './base/ports.ts';
import { realWorld } from './base/ports-real.ts';
import { monitored } from './model/monitor/log-lines.ts';
import { holdDirectory } from './node/directory-lock.ts';
import type { DriverSettings } from './node/drivers/allowed.ts';
import { DockerDriver } from './node/drivers/docker/docker-driver.ts';
import type { DockerSettings } from './node/drivers/docker/settings.ts';
import type { IsolationSettings } from './node/drivers/isolation/settings.ts';
import type { NodeSettings } from './node/fingerprint/fingerprint.ts';
import { readProcessor } from './node/fingerprint/processor.ts';
import type { ArtifactSettings } from './node/hooks/artifacts/settings.ts';
import { ServerData } from './node/hooks/templates/server-data.ts';
import { Machine } from './node/machine.ts';
import { NodeAgent, type NodeAgentOptions } from './node/node-agent.ts';
import type { NodeChange } from './node/node-change.ts';
import { httpServerApi, nodeTransport } from './node/server-api-http.ts';
import { letThrough } from './node/way-through.ts';
import { type Resolve, ServerChoice } from './sdk/server-choice.ts';
import type { TlsTrust } from './sdk/tls-trust.ts';
import { resolveName } from './sdk/transport-names.ts';
import { type Log, silentLog } from './server/context.ts';

/** The options of a node, beside a server or alone. */
export interface NodeOptions {
  /** `undefined`: the node uses a temporary directory. */
  readonly dataDirectory?: string | undefined;
  /** The drivers of the node; by default all but `raw_exec`, whose tasks are not isolated. */
  readonly drivers?: DriverSettings;
  readonly docker?: DockerSettings;
  readonly isolation?: IsolationSettings;
  /** Environment variables; tasks inherit a few of them. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The defaults are those of `limits.artifact`. */
  readonly artifacts?: Partial<ArtifactSettings>;
  readonly region?: string;
  readonly version?: string;
  readonly log?: Log;
  /** Reads the configuration of the agent again; absent: it has none. */
  readonly reload?: NodeAgentOptions['reload'];
  /** Clock, timers, random, ids and secrets; the default is the real world. */
  readonly world?: World;
}

/** How a node reaches its servers. */
export interface NodeServers extends TlsTrust {
  /** Each `http://host:port` or `https://host:port`; the node uses the first that answers, in an order of its own. */
  readonly addresses: readonly string[];
  /** Looks up host names; the default is the system's resolver. */
  readonly resolve?: Resolve;
  /** The introduction token, used until a server has accepted the node's own secret. */
  readonly introduction?: (() => Promise<string>) | undefined;
}

export interface RunningNode {
  readonly id: string;
  /** The address of the current server. */
  readonly server: string;
  /** Resolves when a server has registered the node. Rejects if the node ends before. */
  registered(): Promise<void>;
  /** The metrics of the node, as `GET /v1/metrics` shows metrics. */
  metrics(): Promise<readonly Family[]>;
  /** Takes other settings while its tasks go on. */
  configure(change: NodeChange): Promise<void>;
  /** `stop` ends the running tasks first, `keep` leaves them to their supervisor. */
  close(tasks: 'stop' | 'keep'): Promise<void>;
  /** Kills every task at once, also during `close`. Resolves when all have ended. */
  killTasks(): Promise<void>;
}

type StartedNode = NodeOptions & {
  readonly node: NodeSettings;
  /** A collector for a node alone. A server makes the spans of the node beside it, and sends its metrics. */
  readonly telemetry?: TelemetrySettings | undefined;
};

interface NodePlace {
  readonly directory: string;
  readonly temporary: boolean;
  readonly release: () => void;
}

/** The node's own directory, held against other agents until `release`. */
async function openPlace(dataDirectory: string | undefined): Promise<NodePlace> {
  const temporary = dataDirectory === undefined;
  const directory = temporary
    ? await mkdtemp(join(tmpdir(), 'roster-'))
    : join(resolve(dataDirectory), 'node');
  await makeDirectories(directory);
  const release = holdDirectory(directory);
  await letThrough(temporary ? [directory] : [resolve(dataDirectory), directory]);
  return { directory, temporary, release };
}

/** Without `recursive`, with which `mkdir` never ends where nothing can be made, as in /proc. */
async function makeDirectories(directory: string): Promise<void> {
  const make = () => mkdir(directory, { mode: 0o700 });
  try {
    await make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT') throw error;
    await makeDirectories(dirname(directory));
    await make().catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again;
    });
  }
}

async function leavePlace({ directory, temporary, release }: NodePlace): Promise<void> {
  release();
  if (temporary) await rm(directory, { recursive: true, force: true });
}

/** Parts that only tests replace; they are not options, so that no configuration can set them. */
export type NodeParts = Pick<NodeAgentOptions, 'defences' | 'launchSupervisor'>;

/** A node that has begun before its servers are known. It is closed unless it starts. */
export interface PreparedNode {
  /** Rejects if the data directory cannot be used, or another agent uses it; then nothing is left running. */
  start(servers: NodeServers): Promise<RunningNode>;
  close(): Promise<void>;
}

/** Starts a node, which tries its servers until one answers. Rejects as {@link PreparedNode.start} does. */
export const startNode = (
  options: StartedNode,
  servers: NodeServers,
  parts?: NodeParts,
): Promise<RunningNode> => prepareNode(options, parts).start(servers);

/**
 * Begins to find out what the machine offers, which takes longer than all else. Its supervisor is a program that takes the
 * processor from a server that starts, so it has to wait until that listens.
 */
export function prepareNode(given: StartedNode, parts: NodeParts = {}): PreparedNode {
  const { world = realWorld } = given;
  const options = { ...given, world, log: monitored(given.log ?? silentLog, world.clock) };
  const opening = openMachine(options, parts);
  // `start` tells the errors of both.
  opening.then(({ machine }) => machine.offers()).catch(() => {});
  let isStarted = false;
  return {
    async start(servers) {
      isStarted = true;
      return startOn(await opening, options, servers);
    },
    async close() {
      if (isStarted) return;
      await opening.then(closeMachine, () => {});
    },
  };
}

type Settled = StartedNode & {
  readonly world: World;
  readonly log: ReturnType<typeof monitored>;
};

/** A machine, with the directory that it holds for its node, and the options of both. */
async function openMachine(options: Settled, parts: NodeParts) {
  const { dataDirectory, environment = {}, world, log, version = '0.0.0' } = options;
  const collector = await collectorOf({ ...options, version });
  const place = await openPlace(dataDirectory);
  const { directory, temporary } = place;
  const own = {
    ...parts,
    world,
    version,
    drivers: [dockerDriver(options, world, { ...parts, directory, temporary })],
    allowedDrivers: options.drivers ?? {},
    dataDirectory: directory,
    settings: options.node,
    endWithAgent: temporary,
    // The mounts of a temporary directory would never be swept after a crash.
    secretsInMemory: !temporary,
    isolation: options.isolation ?? {},
    environment,
    onNotice: (sentence: string) => log.info({ component: 'node' }, sentence),
  };
  return { collector, place, own, machine: new Machine(own) };
}

type OpenedMachine = Awaited<ReturnType<typeof openMachine>>;

async function closeMachine({ collector, place, machine }: OpenedMachine): Promise<void> {
  try {
    await collector?.close();
    await machine.close({ stopTasks: place.temporary });
  } finally {
    await leavePlace(place);
  }
}

async function startOn(
  { collector, place, own, machine }: OpenedMachine,
  options: Settled,
  { addresses, introduction, resolve: lookUp = resolveName, ...trust }: NodeServers,
): Promise<RunningNode> {
  const { world, log, region = 'global' } = options;
  const servers = new ServerChoice({ addresses, random: world.random, resolve: lookUp });
  // Own connections, so that many watched values never delay the heartbeat.
  const transport = nodeTransport(servers, trust);
  const data = new ServerData({ world, address: addresses.join(' or '), transport });
  const described = {
    ...own,
    region,
    api: httpServerApi({ servers, ...trust }),
    introduction,
    artifacts: options.artifacts ?? {},
    templateData: data,
    logLines: log.lines,
    tracer: collector?.tracer,
    reload: options.reload,
  };
  const node = new NodeAgent(described, machine);
  const close = async (tasks: 'stop' | 'keep') => {
    try {
      // First, since it tells the last metrics of tasks that run.
      await collector?.close();
      await node.stop({ stopTasks: place.temporary || tasks === 'stop' });
    } finally {
      await data.close();
      await leavePlace(place);
    }
  };
  try {
    await node.start();
    collector?.push(() => collector.read(node));
  } catch (error) {
    // Tasks of an earlier agent keep running.
    await close('keep').catch((failure) => log.warn({ error: failure }, 'the node did not end'));
    throw error;
  }
  return {
    id: node.id,
    get server() {
      return servers.current;
    },
    registered: () => node.registered(),
    metrics: async () => (await import('./agent-telemetry.ts')).metricsOfNode(node),
    configure: (change) => node.configure(change),
    close,
    killTasks: () => node.killTasks(),
  };
}

/** The way to a collector, if one is configured. @throws Error if the file of its headers cannot be used */
async function collectorOf({
  telemetry,
  node,
  ...options
}: Settled & { readonly version: string }) {
  if (telemetry === undefined) return undefined;
  const { openCollector, metricsOfNode, metricsOfProcess } = await import('./agent-telemetry.ts');
  const collector = await openCollector(telemetry, { ...options, name: node.name ?? hostname() });
  const read = async (agent: NodeAgent) => [
    ...(await metricsOfProcess()),
    ...(await metricsOfNode(agent)),
  ];
  return { ...collector, read };
}

function dockerDriver(
  { environment = {}, docker = {}, node }: StartedNode,
  { clock, timers }: World,
  { directory, temporary, defences }: NodeParts & Omit<NodePlace, 'release'>,
): DockerDriver {
  const { cores, totalMhz } = readProcessor();
  return new DockerDriver({
    clock,
    timers,
    environment,
    settings: docker,
    dataDirectory: directory,
    endWithAgent: temporary,
    defences,
    processor: { cores, totalMhz: node.cpuTotalMhz ?? totalMhz },
  });
}

/**
 * The node's side of an agent: beside a server in the same process, or alone with servers elsewhere.
 * It speaks to them over HTTP in either case.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { World } from './base/ports.ts';
import { realWorld } from './base/ports-real.ts';
import { holdDirectory } from './node/directory-lock.ts';
import type { DriverSettings } from './node/drivers/allowed.ts';
import { DockerDriver } from './node/drivers/docker/docker-driver.ts';
import type { DockerSettings } from './node/drivers/docker/settings.ts';
import type { IsolationSettings } from './node/drivers/isolation/settings.ts';
import { failoverTransport } from './node/failover-transport.ts';
import type { NodeSettings } from './node/fingerprint/fingerprint.ts';
import { readProcessor } from './node/fingerprint/processor.ts';
import type { ArtifactSettings } from './node/hooks/artifacts/settings.ts';
import { ServerData } from './node/hooks/templates/server-data.ts';
import { NodeAgent, type NodeAgentOptions } from './node/node-agent.ts';
import { httpServerApi } from './node/server-api-http.ts';
import { ServerChoice } from './node/server-choice.ts';
import { letThrough } from './node/way-through.ts';
import type { TlsTrust } from './sdk/tls-trust.ts';
import { httpTransport } from './sdk/transport-http.ts';
import { type Log, silentLog } from './server/context.ts';

/** What a node is started with, beside a server or alone. */
export interface NodeOptions {
  /** `undefined`: nothing is kept. */
  readonly dataDirectory?: string | undefined;
  /** Which drivers this node has; by default all but `raw_exec`, whose tasks nothing keeps apart. */
  readonly drivers?: DriverSettings;
  /** What tasks in containers may do on this node. */
  readonly docker?: DockerSettings;
  /** What isolated tasks see of the machine and may do there; by default the system, and little. */
  readonly isolation?: IsolationSettings;
  /** Environment variables, a few of which tasks inherit. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** What is fetched for tasks, and how much of it; the defaults are those of `limits.artifact`. */
  readonly artifacts?: Partial<ArtifactSettings>;
  readonly region?: string;
  readonly version?: string;
  readonly log?: Log;
  /** Clock, timers, random, ids and secrets; the machine's own unless a test brings others. */
  readonly world?: World;
}

/** How a node reaches its servers. */
export interface NodeServers extends TlsTrust {
  /** `http://host:port` or `https://host:port`; the first that answers is kept to. */
  readonly addresses: readonly string[];
  /** Shown until a server has taken the node's own secret; `undefined`: only that secret is. */
  readonly introduction?: (() => Promise<string>) | undefined;
}

export interface RunningNode {
  readonly id: string;
  /** The server that it speaks to at the moment. */
  readonly server: string;
  /** Resolves when a server knows the node. Rejects when the node ends before. */
  registered(): Promise<void>;
  /** `stop` ends the running tasks first, `keep` leaves them to their supervisor. */
  close(tasks: 'stop' | 'keep'): Promise<void>;
  /** Kills every task at once, also while `close` gives them time. Resolves when they are gone. */
  killTasks(): Promise<void>;
}

/** What only a node that a test composes has otherwise: nobody's options, so that none can name it. */
export type NodeParts = Pick<NodeAgentOptions, 'defences' | 'launchSupervisor'>;

/**
 * Starts a node; it looks for its servers until it finds one. Rejects when the data directory cannot
 * be used, or is by another agent; nothing is left running then.
 */
export async function startNode(
  options: NodeOptions & { readonly node: NodeSettings },
  { addresses, introduction, ...trust }: NodeServers,
  parts: NodeParts = {},
): Promise<RunningNode> {
  const { world = realWorld, log = silentLog, version = '0.0.0', region = 'global' } = options;
  const { dataDirectory, environment = {} } = options;
  const temporary = dataDirectory === undefined;
  const directory = temporary
    ? await mkdtemp(join(tmpdir(), 'roster-'))
    : join(resolve(dataDirectory), 'node');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const release = holdDirectory(directory);
  await letThrough(temporary ? [directory] : [resolve(dataDirectory), directory]);
  const servers = new ServerChoice(addresses);
  // Connections of its own: however many values are watched, there is one for the heartbeat.
  const transport = failoverTransport(servers, (address) => httpTransport({ address, ...trust }));
  const data = new ServerData({ world, address: servers.current, transport });
  const { cores, totalMhz } = readProcessor();
  const docker = new DockerDriver({
    clock: world.clock, timers: world.timers, environment,
    settings: options.docker ?? {},
    dataDirectory: directory,
    endWithAgent: temporary,
    defences: parts.defences,
    processor: { cores, totalMhz: options.node.cpuTotalMhz ?? totalMhz },
  });
  const node = new NodeAgent({
    ...parts,
    world, version, region,
    drivers: [docker],
    allowedDrivers: options.drivers ?? {},
    api: httpServerApi({ servers, ...trust }),
    dataDirectory: directory,
    settings: options.node,
    introduction,
    endWithAgent: temporary,
    artifacts: options.artifacts ?? {},
    // What is kept nowhere is swept by nobody.
    secretsInMemory: !temporary,
    templateData: data,
    isolation: options.isolation ?? {},
    environment,
    onNotice: (sentence) => log.info({ component: 'node' }, sentence),
  });
  const close = async (tasks: 'stop' | 'keep') => {
    try {
      await node.stop({ stopTasks: temporary || tasks === 'stop' });
    } finally {
      await data.close();
      release();
      if (temporary) await rm(directory, { recursive: true, force: true });
    }
  };
  try {
    await node.start();
  } catch (error) {
    // What an earlier agent left is not this one's to end.
    await close('keep').catch((failure) => log.warn({ error: failure }, 'the node did not end'));
    throw error;
  }
  return {
    id: node.id,
    get server() {
      return servers.current;
    },
    registered: () => node.registered(),
    close,
    killTasks: () => node.killTasks(),
  };
}

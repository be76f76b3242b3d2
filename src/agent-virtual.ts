/**
 * A whole cluster inside a test: a server and nodes in virtual time, without a port, a file or a process. The
 * server and the nodes are those of the product; tasks are timers.
 */
import type { DefaultPolicy } from './acl/authorizer.ts';
import type { Agent } from './agent.ts';
import { callersOf, inProcessTransport, type WithClient } from './agent-client.ts';
import { Api } from './api/api.ts';
import type { World } from './base/ports.ts';
import { type VirtualClock, VirtualTime } from './base/virtual-time.ts';
import { StreamConnection } from './model/node-stream/stream-connection.ts';
import type { Crash, MockDriverOptions } from './node/drivers/mock.ts';
import type { VirtualNodeSettings } from './node/virtual/described.ts';
import { linkedSockets } from './node/virtual/linked-sockets.ts';
import { VirtualNode } from './node/virtual/virtual-node.ts';
import { schedulerDefaults } from './scheduler/view.ts';
import type { Transport } from './sdk/transport.ts';
import { type Log, silentLog } from './server/context.ts';
import type { GarbageSettings } from './server/garbage/collector.ts';
import { Keyring } from './server/keyring/keyring.ts';
import { OutboundError } from './server/login/outbound.ts';
import { ownIntroduction } from './server/nodes/introductions.ts';
import { Server } from './server/server.ts';
import { MemoryDisk, MemoryEngine } from './state/engine/memory.ts';
import { openState } from './state/state.ts';
import { allTables } from './state/tables.ts';

export type { VirtualNodeSettings };

/** A run of a task, by which its behaviour is chosen. */
export type VirtualTask = Parameters<NonNullable<MockDriverOptions['behaviourOf']>>[0];
/** The settings of the driver `mock`. */
export type TaskBehaviour = NonNullable<ReturnType<NonNullable<MockDriverOptions['behaviourOf']>>>;

export interface VirtualAgentOptions {
  readonly network: 'none';
  readonly clock: 'virtual';
  /** The same seed and the same calls give the same cluster, with the same ids. Default: 1. */
  readonly seed?: number;
  /** Default: 2026-01-01T00:00:00Z. */
  readonly startsAt?: Date;
  /** By default there is none. Without a name, nodes are `node-1`, `node-2` … */
  readonly nodes?: readonly VirtualNodeSettings[];
  /** How a task behaves; by default it runs until it is stopped, and tasks of the driver `mock` as their `Config` says. */
  readonly behaviourOf?: (task: VirtualTask) => TaskBehaviour | undefined;
  /** Secret of the first management token; by default one of the seed. */
  readonly rootToken?: string;
  readonly aclEnabled?: boolean;
  /** The decision where no rule of a token applies; the default is `deny`. */
  readonly aclDefaultPolicy?: DefaultPolicy;
  /** The ages of garbage collection; the default is that of `limits.garbage`. */
  readonly garbage?: Partial<GarbageSettings>;
  readonly region?: string;
  readonly datacenter?: string;
  readonly log?: Log;
}

export interface VirtualAgent
  extends Pick<Agent, 'address' | 'state' | 'handle'>,
    WithClient,
    AsyncDisposable {
  readonly rootToken: string;
  readonly clock: VirtualClock;
  /** The nodes in the order in which they came. */
  readonly nodes: readonly VirtualNode[];
  /** Resolves when the node is registered. */
  addNode(settings?: VirtualNodeSettings): Promise<VirtualNode>;
  /** @throws Error if there is no node of this name */
  node(name: string): VirtualNode;
  /**
   * Ends the tasks of an allocation, or one of them, as a crash does; the default exit code is 1.
   * @throws Error if none of them runs
   */
  crash(allocationId: string, crash?: Crash): void;
  close(): Promise<void>;
}

/** Resolves when all nodes are registered. No time has passed then. */
export async function createVirtualAgent(
  options: VirtualAgentOptions & { readonly version?: string },
): Promise<VirtualAgent> {
  const { seed = 1, startsAt, log = silentLog, region = 'global' } = options;
  const time = new VirtualTime(seed, startsAt?.getTime());
  const { world } = time;
  const rootToken = options.rootToken ?? world.secrets.uuid();
  const { server, api, close } = await openServer(options, time, rootToken);
  const callers = callersOf(api, world, rootToken);
  const nodes: VirtualNode[] = [];
  const addNode = async (settings: VirtualNodeSettings = {}): Promise<VirtualNode> => {
    const name = settings.name ?? `node-${nodes.length + 1}`;
    const node = new VirtualNode({
      world,
      name,
      settings,
      region,
      connect: () => nodeTransport(callers.handle, world),
      openStream: (id) => streamOf(server, id),
      introduction: ownIntroduction(server.context),
      behaviourOf: options.behaviourOf,
      onNotice: (sentence) => log.info({ component: name }, sentence),
    });
    nodes.push(node);
    await node.start();
    return node;
  };
  for (const settings of options.nodes ?? []) await addNode(settings);
  const end = async (): Promise<void> => {
    await callers.close();
    for (const node of nodes) node.lose();
    await close();
  };
  return {
    address: '',
    rootToken,
    state: server.context.state,
    handle: callers.handle,
    client: callers.client,
    clock: time,
    nodes,
    addNode,
    node(name) {
      const found = nodes.find((node) => node.name === name);
      if (found !== undefined) return found;
      const names = nodes.map((node) => node.name).join(', ') || 'none';
      throw new Error(`There is no virtual node "${name}"; there are: ${names}.`);
    },
    crash(allocationId, crash) {
      const ended = nodes.map((node) => node.crash(allocationId, crash));
      if (ended.some((count) => count > 0)) return;
      const task = crash?.task === undefined ? 'No task' : `No task "${crash.task}"`;
      throw new Error(`${task} of the allocation "${allocationId}" runs.`);
    },
    close: end,
    [Symbol.asyncDispose]: end,
  };
}

/** All requests of a node may be repeated, so its writes need no keys. */
function nodeTransport(handle: Agent['handle'], world: World): Transport {
  const { repeats: _, ...transport } = inProcessTransport(handle, world);
  return transport;
}

async function openServer(
  options: VirtualAgentOptions & { readonly version?: string },
  { world }: VirtualTime,
  rootSecret: string,
) {
  const { log = silentLog, version = '0.0.0', region = 'global', datacenter = 'dc1' } = options;
  const { timers } = world;
  const state = await openState({
    tables: allTables,
    engine: new MemoryEngine(new MemoryDisk(), timers),
    timers,
    // No transaction waits for another one, so that writes need no time to pass.
    limits: { lingerMs: 0 },
  });
  const server = new Server({
    state,
    world,
    log,
    region,
    datacenter,
    version,
    rootSecret,
    keyring: await Keyring.open(state, world.secrets.bytes(32), world),
    outbound: async ({ url }) => {
      throw new OutboundError(`${url} cannot be reached: the agent has no network`);
    },
    scheduler: schedulerDefaults,
    garbage: options.garbage ?? {},
  });
  const { aclEnabled: enabled = true, aclDefaultPolicy: defaultPolicy = 'deny' } = options;
  const api = new Api({
    server,
    version,
    name: 'virtual',
    acl: { enabled, defaultPolicy, secrets: world.secrets },
    connections: { perAddressMax: 0, perLoopbackMax: 0 },
  });
  await server.start();
  const close = async (): Promise<void> => {
    server.stop();
    await api.close();
    await state.close();
  };
  return { server, api, close };
}

/** A new stream to the server, which takes the place of the node's WebSocket. Returns the node's end. */
function streamOf({ streams, context }: Server, nodeId: string) {
  const [socket, own] = linkedSockets(context.world.timers);
  const connection = new StreamConnection({ socket, side: 'server' });
  streams.add(nodeId, connection);
  void connection.closed.then(() => streams.remove(nodeId, connection));
  return own;
}

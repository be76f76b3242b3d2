/** The real server over a simulated disk, with crashes and restarts. */
import { Api } from '../src/api/api.ts';
import type { Random, World } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { StreamConnection, type StreamSocket } from '../src/model/node-stream/stream-connection.ts';
import { schedulerDefaults } from '../src/scheduler/view.ts';
import type { Log } from '../src/server/context.ts';
import { Keyring } from '../src/server/keyring/keyring.ts';
import { OutboundError } from '../src/server/login/outbound.ts';
import type { PeeringLink, PeeringTransport } from '../src/server/peering/link.ts';
import { Server } from '../src/server/server.ts';
import type { Answered, Asked } from '../src/server/servers.ts';
import type { LocalServers } from '../src/server/servers-local.ts';
import type { CrashFate } from '../src/state/engine/memory.ts';
import type { AnyDefinition } from '../src/state/table.ts';
import { allTables, keyringKeys } from '../src/state/tables.ts';
import type { State } from '../src/state/types.ts';
import { SimulatedDeciders } from './deciders.ts';
import type { SimulatedDisk } from './disk.ts';
import type { Endpoint } from './network.ts';
import { MachineClock, Process } from './process.ts';
import { Processor } from './processor.ts';
import type { Build } from './upgrades.ts';

export const rootToken = '10000000-0000-4000-8000-000000000001';

/** The root key of every cluster. */
export const clusterKey = new Uint8Array(32).fill(1);

export interface RunningServer extends Endpoint {
  readonly state: State;
  /** Takes the stream of a node. */
  takeStream(nodeId: string, socket: StreamSocket): void;
  /** Takes the stream of another cluster's server. */
  takeLink(link: PeeringLink): void;
}

/** The connection of a cluster to other clusters. */
export interface Outside {
  readonly address: string;
  /** The transport of connections that the program opens. */
  readonly transportOf: (program: Process) => PeeringTransport;
}

/** The storage of a server, which outlives its program. */
export interface Storage {
  /** @param report takes errors that do no harm, such as a failed snapshot */
  open(
    world: World,
    report: (error: unknown) => void,
    program: Process,
    tables: readonly AnyDefinition[],
  ): Promise<State>;
  /** From now on the server tries to lead; absent where it does so by itself. */
  readonly settled?: () => void;
  /** @param fate outcome of the write under way */
  crash(fate: CrashFate): void;
  /** Milliseconds since the log last answered; absent where its holder is never mistaken. */
  readonly contactMs?: (() => number | undefined) | undefined;
  /** Milliseconds since the state last had all that the log held; absent where it always has. */
  readonly ageMs?: (() => number | undefined) | undefined;
}

/** The other servers of the cluster. */
export interface Others {
  readonly id: string;
  readonly servers: LocalServers;
  /** Delivers or loses a message between two servers. */
  readonly carry: (arrive: () => void) => void;
}

export interface ServerEvents {
  /** A state was opened, and the server does not serve yet. */
  readonly opened: (state: State) => void;
  /** The server logged this as an error, or could not start. */
  readonly failed: (sentence: string, fields: object) => void;
}

const restartMaxMs = 5000;

export interface SimulatedServerOptions<S extends Storage> {
  readonly world: SimulatedWorld;
  readonly disk: S;
  readonly events: ServerEvents;
  /** Clock of its machine, if it shares the clock with other servers. */
  readonly clock?: MachineClock;
  readonly planRowsMax: number;
  /** Chance of its deciders; absent in a life without deciders. */
  readonly deciders?: Random | undefined;
  readonly outside?: Outside | undefined;
  readonly others?: Others;
  /** The default is that of the cluster. */
  readonly rootKey?: Uint8Array;
  /** The program that it runs, if it is upgraded. */
  readonly build?: Build | undefined;
}

export class SimulatedServer<S extends Storage = SimulatedDisk> {
  readonly disk: S;
  readonly clock: MachineClock;
  readonly processor: Processor;
  readonly deciders: SimulatedDeciders | undefined;
  readonly #world: SimulatedWorld;
  readonly #events: ServerEvents;
  readonly #outside: Outside | undefined;
  readonly #others: Others | undefined;
  readonly #planRowsMax: number;
  readonly #rootKey: Uint8Array;
  /** The program from the next start on. */
  build: Build | undefined;
  readonly #hashed = new Map<string, string>();
  #running: RunningServer | undefined;
  #process: Process | undefined;
  #stop = () => {};
  #isHalted = false;

  constructor(options: SimulatedServerOptions<S>) {
    const { world, disk, events, outside, others, clock } = options;
    this.#outside = outside;
    this.#others = others;
    this.#planRowsMax = options.planRowsMax;
    this.#rootKey = options.rootKey ?? clusterKey;
    this.build = options.build;
    this.deciders = options.deciders && new SimulatedDeciders(options.deciders);
    this.#world = world;
    this.disk = disk;
    this.#events = events;
    this.clock = clock ?? new MachineClock(world.clock);
    this.processor = new Processor(world.random);
  }

  get running(): RunningServer | undefined {
    return this.#running;
  }

  /** The program that runs or is starting. */
  get process(): Process | undefined {
    return this.#process?.isAlive === true ? this.#process : undefined;
  }

  start(): void {
    if (this.#isHalted || this.process !== undefined) return;
    const process = new Process(this.#world, this.clock);
    this.#process = process;
    this.#openServer(process).catch((error: unknown) => {
      if (!process.isAlive) return;
      this.#events.failed('the server could not start', { error });
      this.crash('lost');
      this.startSoon();
    });
  }

  /** Its operator stops it. It does not start before `resume`. */
  halt(): void {
    this.#isHalted = true;
    this.crash('lost');
  }

  resume(): void {
    this.#isHalted = false;
    this.start();
  }

  startSoon(): void {
    const { timers, random } = this.#world;
    timers.after(random.below(restartMaxMs), () => this.start());
  }

  async #openServer(process: Process): Promise<void> {
    const world = this.#worldOf(process);
    const say = (sentence: string, fields: object) => {
      if (process.isAlive) this.#events.failed(sentence, fields);
    };
    const log: Log = {
      debug() {},
      info() {},
      warn() {},
      error: (fields, sentence) => say(sentence, fields),
    };
    const report = (error: unknown) =>
      say('a snapshot could not be written', { error: error as Error });
    const { build } = this;
    const program = build && { version: build.version, tables: build.reads };
    const state = await this.disk.open(world, report, process, build?.tables ?? allTables);
    const keyring = await this.#openKeyring(state, world);
    if (!process.isAlive) return;
    this.#events.opened(state);
    const server = new Server({
      state,
      world,
      log,
      keyring,
      region: 'global',
      datacenter: 'dc1',
      outbound: async ({ url }) => {
        throw new OutboundError(`${url} cannot be reached`);
      },
      rootSecret: rootToken,
      planRowsMax: this.#planRowsMax,
      startDecider: this.deciders?.of(process),
      ...(this.#others && { servers: this.#others.servers.of(this.#others.id) }),
      ...(this.#outside && { peers: this.#outside.transportOf(process) }),
      logContactMs: this.disk.contactMs,
      scheduler: schedulerDefaults,
      ...program,
    });
    const api = new Api({
      server,
      acl: {
        enabled: true,
        secrets: world.secrets,
      },
      name: 'simulated',
      version: '0.0.0',
      connections: { perAddressMax: 0, perLoopbackMax: 0 },
    });
    this.#stop = () => server.stop();
    if (this.#outside !== undefined) {
      server.advertise({ addresses: [this.#outside.address], caPems: [] });
    }
    await server.start();
    if (!process.isAlive) return;
    // The others refuse the connections of a server that cannot prove the root key.
    if (!keyring.isForeign) this.#joinOthers(process, state, server, api);
    this.#running = {
      process,
      state,
      handle: (request) => api.handle(request),
      takeStream: (nodeId, socket) => {
        const connection = new StreamConnection({ socket, side: 'server' });
        server.streams.add(nodeId, connection);
        void connection.closed.then(() => server.streams.remove(nodeId, connection));
      },
      takeLink: (link) => void server.peerings.accept(link),
    };
  }

  /** Only a server whose root key opens the keys of the state tries to lead. */
  async #openKeyring(state: State, world: World): Promise<Keyring> {
    const keys = state.read().table(keyringKeys);
    if (this.disk.settled && Keyring.opens(keys.scan(), this.#rootKey, world)) this.disk.settled();
    return this.#others === undefined
      ? Keyring.open(state, this.#rootKey, world)
      : Keyring.follow(state, this.#rootKey, world);
  }

  /** Joins the other servers of the cluster until the program dies. */
  #joinOthers(process: Process, state: State, server: Server, api: Api): void {
    if (this.#others === undefined) return;
    const { id, servers, carry } = this.#others;
    const answer = (asked: Asked, gone: AbortSignal) =>
      new Promise<Answered>((resolve) => {
        const serve = async () => {
          const answered = await api.answer({ ...asked, onGone: whenAborted(gone) });
          if (process.isAlive) carry(() => resolve(answered));
        };
        carry(() => process.post(() => void serve()));
      });
    const { streams } = server;
    const silentMs = () => server.silentMs;
    const { tables, version } = server;
    const told = { ...(this.build && { tables, version }), silentMs, ageMs: this.disk.ageMs?.() };
    process.onDeath(servers.join({ id, address: () => id, state, streams, answer, ...told }));
  }

  /** The world of the program, in which work takes time. Each secret is hashed only once, for speed. */
  #worldOf({ world }: Process): World {
    const hash = (secret: string): string => {
      const known = this.#hashed.get(secret) ?? world.secrets.hash(secret);
      this.#hashed.set(secret, known);
      return known;
    };
    return {
      ...world,
      clock: this.processor.clockOver(world.clock),
      timers: this.processor.timersOver(world.timers, world.clock),
      secrets: { ...world.secrets, hash },
    };
  }

  /** @param fate outcome of the write under way */
  crash(fate: CrashFate): void {
    this.#process?.kill();
    this.#process = undefined;
    this.#running = undefined;
    this.disk.crash(fate);
    // Objects that outlive the program drop the listeners of the dead server.
    this.#stop();
    this.#stop = () => {};
  }
}

const whenAborted = (signal: AbortSignal) => (run: () => void) => {
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
};

import { expect, test } from 'vitest';
import type { Timers } from '../base/ports.ts';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { limits } from '../model/limits.ts';
import { schedulerDefaults } from '../scheduler/view.ts';
import { SharedLog, SharedMemoryEngine } from '../state/engine/shared-memory.ts';
import { openState } from '../state/state.ts';
import { allTables } from '../state/tables.ts';
import type { State } from '../state/types.ts';
import { silentLog } from './context.ts';
import { Keyring } from './keyring/keyring.ts';
import { Server } from './server.ts';
import type { ServerOptions } from './server-options.ts';
import { LocalServers } from './servers-local.ts';

const settleMs = 60_000;

/** Timers that tell how many of them are set and have neither run nor been cleared. */
class CountedTimers implements Timers {
  readonly #set = new Set<object>();
  readonly #base: Timers;

  constructor(base: Timers) {
    this.#base = base;
  }

  get size(): number {
    return this.#set.size;
  }

  after(delayMs: number, run: () => void) {
    return this.#counted((fire) => this.#base.after(delayMs, fire), run);
  }

  soon(run: () => void) {
    return this.#counted((fire) => this.#base.soon(fire), run);
  }

  unhurried(run: () => void) {
    return this.#counted((fire) => this.#base.unhurried(fire), run);
  }

  #counted(set: (fire: () => void) => { clear(): void }, run: () => void) {
    const one = {};
    this.#set.add(one);
    const timer = set(() => {
      this.#set.delete(one);
      run();
    });
    return {
      clear: () => {
        this.#set.delete(one);
        timer.clear();
      },
    };
  }
}

/** The state, and how many listen to it. */
function counted(state: State) {
  let listeners = 0;
  const count = (leave: () => void) => {
    listeners++;
    let isIn = true;
    return () => {
      if (isIn) listeners--;
      isIn = false;
      leave();
    };
  };
  const own = Object.create(state, {
    onCommit: {
      value: (listen: Parameters<State['onCommit']>[0]) => count(state.onCommit(listen)),
    },
    onRan: { value: (listen: Parameters<State['onRan']>[0]) => count(state.onRan(listen)) },
  });
  const handler: ProxyHandler<State> = {
    get(target, name) {
      if (name === 'onCommit' || name === 'onRan') return own[name];
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  };
  return { state: new Proxy(state, handler), count: () => listeners };
}

const logOf = (world: SimulatedWorld) => new SharedLog({ clock: world.clock, leaseMs: 400 });

/** A server of two, over a log where the first process leads. It is not started. */
async function followerOf(
  world: SimulatedWorld,
  log: SharedLog,
  more: Pick<ServerOptions, 'logContactMs'> = {},
) {
  const opened = { tables: allTables, timers: world.timers };
  const engineOf = () =>
    new SharedMemoryEngine({ log, timers: world.timers, random: world.random, beatMs: 100 });
  const first = await openState({ ...opened, engine: engineOf() });
  await world.advance(1000);
  const state = await openState({ ...opened, engine: engineOf() });
  const own = { ...world, clock: world.clock, ids: world.ids, secrets: world.secrets };
  const keyring = Keyring.follow(state, new Uint8Array(32).fill(1), own);
  return { first, state, server: serverOf({ state, world: own, keyring, ...more }) };
}

/** A server that knows no others. */
const serverOf = (
  own: Pick<ServerOptions, 'state' | 'world' | 'keyring' | 'logContactMs'>,
): Server =>
  new Server({
    log: silentLog,
    region: 'global',
    datacenter: 'dc1',
    servers: new LocalServers(own.world).of('this'),
    outbound: () => Promise.reject(new Error('nowhere')),
    rootSecret: undefined,
    scheduler: schedulerDefaults,
    ...own,
  });

test('a server whose term begins between its making and its start leads', async () => {
  const world = new SimulatedWorld(1);
  const { first, state, server } = await followerOf(world, logOf(world));
  await first.stepDown(true);
  await world.advance(1000);
  expect([state.leading?.epoch, server.leads]).toEqual([2, false]);
  const started = server.start();
  await world.advance(1000);
  await started;
  expect(server.leads).toBe(true);
});

test('a server whose term ends before it has begun to lead starts, and leads later', async () => {
  const world = new SimulatedWorld(1);
  const log = logOf(world);
  const { first, state, server } = await followerOf(world, log);
  await first.close();
  await world.advance(1000);
  expect(state.leading?.epoch).toBe(2);
  log.faults.failAppend = () => new Error('the log is away');
  const started = server.start();
  await world.advance(1000);
  await started;
  expect(server.leads).toBe(false);
  log.faults.failAppend = undefined;
  await world.advance(1000);
  expect(server.leads).toBe(true);
});

test('a leader that has not heard of the log for long tells so', async () => {
  const world = new SimulatedWorld(1);
  let silentMs = 0;
  const { first, server } = await followerOf(world, logOf(world), { logContactMs: () => silentMs });
  await first.stepDown(true);
  const started = server.start();
  await world.advance(1000);
  await started;
  expect(server.leads).toBe(true);
  expect(server.contact()).toEqual({ LastContact: 0, KnownLeader: true });
  silentMs = limits.servers.leaderSilentMs;
  expect(server.contact().LastContact).toBe(0);
  silentMs = 60_000;
  expect(server.contact()).toEqual({ LastContact: 60_000, KnownLeader: true });
});

test('a term that ends leaves no timer and no listener, however often it begins', async () => {
  const world = new SimulatedWorld(1);
  const log = new SharedLog({ clock: world.clock, leaseMs: 400 });
  const engineOf = () =>
    new SharedMemoryEngine({ log, timers: world.timers, random: world.random, beatMs: 100 });
  // Somebody else who may lead meanwhile.
  await openState({ tables: allTables, engine: engineOf(), timers: world.timers });
  const opened = await openState({ tables: allTables, engine: engineOf(), timers: world.timers });
  const { state, count } = counted(opened);
  const timers = new CountedTimers(world.timers);
  const own = { ...world, timers, clock: world.clock, ids: world.ids, secrets: world.secrets };
  const keyring = await Keyring.open(state, new Uint8Array(32).fill(1), own);
  const server = serverOf({ state, world: own, keyring });
  await server.start();
  const following: [number, number][] = [];
  const leading: number[] = [];
  for (let round = 0; round < 40; round++) {
    await world.advance(settleMs);
    if (server.leads) leading.push(count());
    else following.push([count(), timers.size]);
    log.depose();
  }
  expect(leading.length).toBeGreaterThan(3);
  expect(following.length).toBeGreaterThan(3);
  expect(new Set(leading).size).toBe(1);
  for (const one of following) expect(one).toEqual([following[0]![0], 0]);
  expect(leading[0]).toBeGreaterThan(following[0]![0]);
});

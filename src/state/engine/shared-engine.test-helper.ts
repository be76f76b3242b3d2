/** The tests that every engine passes whose log several processes share. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Timers } from '../../base/ports.ts';
import { NotLeading, OutcomeUnknown } from '../errors.ts';
import { dump, item, items, tables } from '../items.test-helper.ts';
import { openState } from '../state.ts';
import type { Change, State } from '../types.ts';
import type { Engine } from './engine.ts';

/** The engine of a process that a test may end. */
export interface BenchEngine {
  readonly engine: Engine;
  readonly timers: Timers;
  /** The process dies: it sends and receives nothing more. */
  crash(): void;
  /** Sets the delay until it hears of a batch. */
  hearAfter(delayMs: number): void;
}

/** A log for tests, simulated or real. */
export interface LogBench {
  open(): BenchEngine;
  /** Lets time pass until the condition holds, and fails the test after too long. */
  until(condition: () => boolean): Promise<void>;
  /** Lets time pass until the promise has settled. */
  during<T>(promise: Promise<T>): Promise<T>;
}

/** A simulated log, and what tests do to it. */
export interface Bench extends LogBench {
  /** Long enough for a lease to end, somebody to lead and everybody to hear of it. */
  readonly settleMs: number;
  /** Whether the log keeps what a living process still needs. */
  readonly keepsLog: boolean;
  /** First and last index of each batch of the log, and its term. */
  readonly appended: readonly { first: number; last: number; epoch: number }[];
  advance(durationMs: number): Promise<void>;
  /** The lease of the leader ends. */
  depose(): void;
  /** Another process begins a term, and is never seen again. */
  usurp(): void;
  /** Sets how long a request takes, half of it on the way to the log. */
  slow(delayMs: number): void;
  answers(how: 'works' | 'fails' | 'no answer'): void;
  /** Ends faults of its own. */
  calm?(): void;
}

export interface BenchServer extends BenchEngine {
  readonly state: State;
  /** What its listeners heard, commit by commit. */
  readonly heard: { readonly index: number; readonly changes: readonly Change[] }[];
  /** The terms in which it led. */
  readonly terms: number[];
  /** Faults that harmed nothing. */
  readonly reports: unknown[];
}

/** Servers over the log of a bench. */
export class BenchServers<B extends LogBench = LogBench> {
  readonly bench: B;
  readonly all: (BenchServer | undefined)[] = [];
  readonly #limits: object;

  constructor(bench: B, limits: object = {}) {
    this.bench = bench;
    this.#limits = limits;
  }

  async open(count: number): Promise<this> {
    for (let number = 0; number < count; number++) await this.start(number);
    await this.bench.until(() => this.leader !== undefined);
    return this;
  }

  async start(number: number): Promise<BenchServer> {
    const opened = this.bench.open();
    const { engine, timers } = opened;
    const reports: unknown[] = [];
    const opening = openState({
      tables,
      engine,
      timers,
      freeze: true,
      limits: this.#limits,
      report: (error) => reports.push(error),
    });
    const state = await this.bench.during(opening);
    const server: BenchServer = { ...opened, state, heard: [], terms: [], reports };
    state.onCommit((changes, index) => server.heard.push({ index, changes }));
    state.onLeadership((term) => term && server.terms.push(term.epoch));
    this.all[number] = server;
    return server;
  }

  crash(server: BenchServer | undefined): void {
    server?.crash();
    this.all[this.all.indexOf(server)] = undefined;
  }

  /** Every process dies. */
  end(): void {
    for (const server of this.living) this.crash(server);
  }

  get living(): BenchServer[] {
    return this.all.filter((server) => server !== undefined);
  }

  /** The server that leads the newest term; there may be none. */
  get leader(): BenchServer {
    const epoch = Math.max(...this.living.map(({ state }) => state.leading?.epoch ?? 0));
    return this.living.find(({ state }) => state.leading?.epoch === epoch)!;
  }

  get follower(): BenchServer {
    return this.living.find(({ state }) => state.leading === undefined)!;
  }

  put({ state }: Pick<BenchServer, 'state'>, name: string): Promise<{ readonly index: number }> {
    return this.bench.during(putRow(state, name));
  }
}

export const putRow = (state: State, name: string) =>
  state.write((transaction) => transaction.table(items).put(item(name)));

export const hasRow = ({ state }: Pick<BenchServer, 'state'>, name: string): boolean =>
  state.read().table(items).has('s', name);

/** Simulated time goes on until the condition holds. */
export async function simulatedUntil(
  bench: Pick<Bench, 'advance' | 'settleMs'>,
  condition: () => boolean,
): Promise<void> {
  for (let waitedMs = 0; !condition(); waitedMs += untilStepMs) {
    expect(waitedMs).toBeLessThan(10 * bench.settleMs);
    await bench.advance(untilStepMs);
  }
}

const untilStepMs = 2;

/** Simulated time goes on until the promise has settled. */
export async function simulatedDuring<T>(
  bench: Pick<Bench, 'advance'>,
  promise: Promise<T>,
): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  promise.then(over, over);
  // Promises that are ready settle before any time passes.
  for (let stepMs = 0; !isOver; stepMs = 1) await bench.advance(stepMs);
  return promise;
}

/** The tests of servers over one log. */
export function testServers(name: string, bench: () => LogBench): void {
  const all: BenchServers[] = [];
  const opened: Opening = (count, limits = {}) => {
    const servers = new BenchServers(bench(), limits);
    all.push(servers);
    return servers.open(count);
  };

  describe(`servers over ${name}`, () => {
    afterEach(() => {
      for (const servers of all.splice(0)) servers.end();
    });

    testFollowing(opened);
    testLeadership(opened);
  });
}

type Opening = (count: number, limits?: object) => Promise<BenchServers>;

const everywhere = (servers: BenchServers, row: string): Promise<void> =>
  servers.bench.until(() => servers.living.every((server) => hasRow(server, row)));

function testFollowing(opened: Opening): void {
  test('one leads; the others refuse a write without running it, and show the writes of the leader', async () => {
    const servers = await opened(3);
    expect(servers.living.filter(({ state }) => state.leading !== undefined).length).toBe(1);
    await servers.put(servers.leader, 'a');
    let ran = false;
    const refused = servers.follower.state.write(() => {
      ran = true;
    });
    await expect(refused).rejects.toBeInstanceOf(NotLeading);
    expect(ran).toBe(false);
    await everywhere(servers, 'a');
    for (const { state, heard } of servers.living) {
      expect(dump(state.read())).toEqual(dump(servers.leader.state.read()));
      expect(heard.map(({ index }) => index)).toEqual([1]);
    }
  });

  test('a watch of a follower wakes by writes of the leader, and by nothing else', async () => {
    const servers = await opened(2);
    const { state } = servers.follower;
    const woken: string[] = [];
    for (const row of ['a', 'b']) {
      const { snapshot, footprint } = state.track();
      snapshot.table(items).get('s', row);
      state.watch(footprint, () => woken.push(row));
    }
    await servers.put(servers.leader, 'a');
    await everywhere(servers, 'a');
    expect(woken).toEqual(['a']);
  });

  test("a follower of the head hears of another leader's transactions in order", async () => {
    const servers = await opened(2);
    const ran: number[] = [];
    servers.follower.state.onRan((_, index) => ran.push(index));
    for (const row of ['a', 'b', 'c']) await servers.put(servers.leader, row);
    await everywhere(servers, 'c');
    expect(ran).toEqual([1, 2, 3]);
  });

  test('an exact read shows what any server has acknowledged', async () => {
    const servers = await opened(2);
    const { follower } = servers;
    for (const row of ['a', 'b', 'c']) {
      await servers.put(servers.leader, row);
      await servers.bench.during(follower.state.exact()!);
      expect(hasRow(follower, row)).toBe(true);
    }
  });
}

function testLeadership(opened: Opening): void {
  test('when the leader dies another one leads, goes on from its last batch, and it can come back', async () => {
    const servers = await opened(3);
    const { leader } = servers;
    await servers.put(leader, 'a');
    servers.crash(leader);
    await servers.bench.until(() => servers.leader !== undefined);
    expect((await servers.put(servers.leader, 'b')).index).toBe(2);
    await servers.start(servers.all.indexOf(undefined));
    await everywhere(servers, 'b');
    await everywhere(servers, 'a');
    expect(servers.living.length).toBe(3);
  });

  test('a leader that closes gives the log up, and another one leads', async () => {
    const servers = await opened(2);
    const { leader, follower } = servers;
    await servers.bench.during(leader.state.close());
    servers.crash(leader);
    await servers.bench.until(() => servers.leader === follower);
    expect((await servers.put(follower, 'a')).index).toBe(1);
  });

  test('servers that start after snapshots and cuts show the same', async () => {
    const servers = await opened(2, { logBytes: 1, logPerSnapshot: 0 });
    for (const row of ['a', 'b', 'c', 'd', 'e', 'f']) await servers.put(servers.leader, row);
    await servers.start(2);
    await everywhere(servers, 'f');
    for (const { state } of servers.living) {
      expect(dump(state.read())).toEqual(dump(servers.leader.state.read()));
    }
  });
}

/** The tests of servers over a log that misbehaves. */
export function testFaults(name: string, bench: () => Bench): void {
  const opened = (count: number) => new BenchServers(bench()).open(count);

  describe(`faults of servers over ${name}`, () => {
    test('a leader that was replaced discards writes that are not durable, and leads again later', async () => {
      const servers = await opened(2);
      const former = servers.leader;
      servers.bench.slow(40);
      const sent = putRow(former.state, 'sent');
      await servers.bench.advance(1);
      const unsent = putRow(former.state, 'unsent');
      expect(former.state.head().table(items).size).toBe(2);
      const outcomes = Promise.allSettled([sent, unsent]);
      former.hearAfter(1);
      // Another process leads before the first half of the way is over.
      servers.bench.usurp();
      for (const outcome of await servers.bench.during(outcomes)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'not-leading' } });
      }
      expect(former.state.head().table(items).size).toBe(0);
      expect(former.state.closed).toBeUndefined();
      servers.bench.slow(0);
      servers.crash(servers.living.find((one) => one !== former));
      await servers.bench.advance(2 * servers.bench.settleMs);
      expect((await servers.put(former, 'again')).index).toBe(1);
      expect(former.terms.length).toBe(2);
    });

    test('an exact read waits for every write that was acknowledged before it, on any server', async () => {
      const servers = await opened(2);
      const { state, hearAfter } = servers.follower;
      hearAfter(20);
      await servers.put(servers.leader, 'a');
      expect(state.read().index).toBe(0);
      await servers.bench.during(state.exact()!);
      expect(hasRow(servers.follower, 'a')).toBe(true);
    });

    test('a write without an answer is reported as such or settled, and all servers receive the log', async () => {
      const servers = await opened(2);
      const former = servers.leader;
      servers.bench.answers('no answer');
      const written = servers.put(former, 'a');
      const outcome = await written.then(
        () => undefined,
        (error: unknown) => error,
      );
      servers.bench.answers('works');
      await servers.bench.advance(2 * servers.bench.settleMs);
      if (outcome !== undefined) {
        expect(outcome).toBeInstanceOf(OutcomeUnknown);
        expect(former.heard.map(({ index }) => index)).toEqual([1]);
      }
      for (const server of servers.living) expect(hasRow(server, 'a')).toBe(true);
      expect((await servers.put(servers.leader, 'b')).index).toBe(2);
    });
  });
}

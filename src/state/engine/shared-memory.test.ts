import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { Diverged, NotLeading, OutcomeUnknown } from '../errors.ts';
import {
  dump,
  expected,
  item,
  items,
  Oracle,
  runScript,
  script,
  tables,
} from '../items.test-helper.ts';
import { openState } from '../state.ts';
import type { Change, State } from '../types.ts';
import { SharedLog, SharedMemoryEngine } from './shared-memory.ts';

const beatMs = 10;
const leaseMs = 40;
/** Long enough for a lease to end, and for every server to hear of the next leader's batches. */
const settleMs = 500;

interface Server {
  readonly engine: SharedMemoryEngine;
  readonly state: State;
  /** The commits that its listeners heard of. */
  readonly heard: { readonly index: number; readonly changes: readonly Change[] }[];
  /** The terms in which it led. */
  readonly terms: number[];
}

class Servers {
  readonly world = new SimulatedWorld(1);
  readonly log: SharedLog;
  readonly all: (Server | undefined)[] = [];
  /** Indexes and term of each batch of the log. */
  readonly appended: { readonly first: number; readonly last: number; readonly epoch: number }[] =
    [];
  readonly #limits: object;

  constructor(limits: object = {}) {
    this.#limits = limits;
    this.log = new SharedLog({
      clock: this.world.clock,
      leaseMs,
      appended: ({ firstIndex: first, lastIndex: last }, epoch) =>
        this.appended.push({ first, last, epoch }),
    });
  }

  async open(count: number): Promise<this> {
    for (let number = 0; number < count; number++) await this.start(number);
    await this.world.advance(settleMs);
    return this;
  }

  async start(number: number): Promise<Server> {
    const { timers, random } = this.world;
    const engine = new SharedMemoryEngine({ log: this.log, timers, random, beatMs });
    const state = await openState({
      tables,
      engine,
      timers,
      freeze: true,
      limits: this.#limits,
    });
    const server: Server = { engine, state, heard: [], terms: [] };
    state.onCommit((changes, index) => server.heard.push({ index, changes }));
    state.onLeadership((term) => term && server.terms.push(term.epoch));
    this.all[number] = server;
    return server;
  }

  crash(number: number): void {
    this.all[number]?.engine.crash();
    this.all[number] = undefined;
  }

  get living(): Server[] {
    return this.all.filter((one) => one !== undefined);
  }

  get leader(): Server {
    return this.living.find(({ state }) => state.leading?.epoch === this.log.epoch)!;
  }

  get follower(): Server {
    return this.living.find(({ state }) => state.leading === undefined)!;
  }
}

const put = (state: State, name: string) =>
  state.write((transaction) => transaction.table(items).put(item(name)));

const hasRow = ({ state }: Server, name: string) => state.read().table(items).has('s', name);

describe('servers over one log', () => {
  test('a single server leads; the others refuse writes without running them, and show its rows', async () => {
    const servers = await new Servers().open(3);
    expect(servers.living.filter(({ state }) => state.leading !== undefined).length).toBe(1);
    await put(servers.leader.state, 'a');
    let ran = false;
    const refused = servers.follower.state.write(() => {
      ran = true;
    });
    await expect(refused).rejects.toBeInstanceOf(NotLeading);
    expect(ran).toBe(false);
    await servers.world.advance(1);
    for (const { state, heard } of servers.living) {
      expect(dump(state.read())).toEqual(dump(servers.leader.state.read()));
      expect(heard.map(({ index }) => index)).toEqual([1]);
    }
  });

  test("a watch of a follower wakes by the leader's write of its row, and by no other write", async () => {
    const servers = await new Servers().open(2);
    const { state } = servers.follower;
    const woken: string[] = [];
    for (const name of ['a', 'b']) {
      const { snapshot, footprint } = state.track();
      snapshot.table(items).get('s', name);
      state.watch(footprint, () => woken.push(name));
    }
    await put(servers.leader.state, 'a');
    await servers.world.advance(1);
    expect(woken).toEqual(['a']);
  });

  test("a follower of the head hears of another leader's transactions in order", async () => {
    const servers = await new Servers().open(2);
    const ran: number[] = [];
    servers.follower.state.onRan((_, index) => ran.push(index));
    for (const name of ['a', 'b', 'c']) await put(servers.leader.state, name);
    await servers.world.advance(1);
    expect(ran).toEqual([1, 2, 3]);
  });

  test('after the death of the leader another server leads from its last batch, and it can come back', async () => {
    const servers = await new Servers().open(3);
    await put(servers.leader.state, 'a');
    servers.crash(servers.all.indexOf(servers.leader));
    await servers.world.advance(settleMs);
    expect((await put(servers.leader.state, 'b')).index).toBe(2);
    await servers.start(servers.all.indexOf(undefined));
    await servers.world.advance(settleMs);
    for (const server of servers.living) {
      expect([hasRow(server, 'a'), hasRow(server, 'b')]).toEqual([true, true]);
    }
    expect(servers.living.length).toBe(3);
  });

  test('a leader that was replaced discards transactions that are not durable, and can lead again', async () => {
    const servers = await new Servers().open(2);
    const former = servers.leader;
    servers.log.faults.appendDelayMs = 4 * beatMs;
    const sent = put(former.state, 'sent');
    await servers.world.advance(1);
    const unsent = put(former.state, 'unsent');
    expect(former.state.head().table(items).size).toBe(2);
    const outcomes = Promise.allSettled([sent, unsent]);
    former.engine.deliveryDelayMs = 1;
    // Another process leads before the append has reached the log.
    servers.log.depose();
    servers.log.campaign(servers.follower.engine, 0);
    await servers.world.advance(settleMs);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'not-leading' } });
    }
    expect(former.state.head().table(items).size).toBe(0);
    expect(former.state.closed).toBeUndefined();
    servers.log.faults.appendDelayMs = undefined;
    servers.crash(servers.all.findIndex((one) => one !== former));
    await servers.world.advance(settleMs);
    expect((await put(former.state, 'again')).index).toBe(1);
    expect(former.terms.length).toBe(2);
  });

  test('an append whose answer is lost has an unknown outcome, and its batch comes as any other', async () => {
    const servers = await new Servers().open(2);
    const former = servers.leader;
    servers.log.faults.loseAnswer = () => true;
    await expect(put(former.state, 'a')).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(former.state.leading).toBeUndefined();
    servers.log.faults.loseAnswer = undefined;
    await servers.world.advance(settleMs);
    for (const server of servers.living) expect(hasRow(server, 'a')).toBe(true);
    expect(former.heard.map(({ index }) => index)).toEqual([1]);
    expect((await put(servers.leader.state, 'b')).index).toBe(2);
  });

  test('an exact read waits for every write that was acknowledged before it', async () => {
    const servers = await new Servers().open(2);
    const { engine, state } = servers.follower;
    engine.deliveryDelayMs = 20;
    await put(servers.leader.state, 'a');
    expect(state.read().index).toBe(0);
    let isExact = false;
    void state.exact()?.then(() => {
      isExact = true;
    });
    await servers.world.advance(10);
    expect(isExact).toBe(false);
    await servers.world.advance(20);
    expect(isExact).toBe(true);
    expect(hasRow(servers.follower, 'a')).toBe(true);
  });
});

describe('a log that has diverged', () => {
  /** A follower has applied the first batch; then the log goes on from another batch. */
  const diverged = async (limits: object) => {
    const servers = await new Servers(limits).open(2);
    await put(servers.leader.state, 'a');
    await servers.world.advance(1);
    const { follower } = servers;
    follower.engine.deliveryDelayMs = 10;
    await put(servers.leader.state, 'b');
    const last = servers.log.records.pop()!;
    servers.log.records.push({ ...last, previous: 'f'.repeat(32) });
    return { servers, follower };
  };

  test('is named, and nothing of it is applied', async () => {
    const { servers, follower } = await diverged({});
    await servers.world.advance(20);
    expect(follower.state.closed?.cause).toBeInstanceOf(Diverged);
    expect(follower.state.closed?.message).toContain('the log has diverged');
    expect([hasRow(follower, 'a'), hasRow(follower, 'b')]).toEqual([true, false]);
  });

  test.each([
    ['its batches', {}],
    ['a snapshot', { logBytes: 1 }],
  ])('is not loaded after %s', async (_, limits) => {
    const { servers } = await diverged(limits);
    if ('logBytes' in limits) {
      const covered = servers.log.records.findIndex(({ lastIndex }) => lastIndex === 2);
      expect(servers.log.snapshot.index).toBe(1);
      expect(covered).toBe(servers.log.records.length - 1);
    }
    await expect(servers.start(2)).rejects.toBeInstanceOf(Diverged);
  });
});

type Move =
  | { readonly kind: 'write'; readonly script: Parameters<typeof runScript>[1] }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'depose' }
  | { readonly kind: 'crash'; readonly server: number }
  | { readonly kind: 'start'; readonly server: number }
  | { readonly kind: 'late'; readonly server: number; readonly ms: number }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'fail'; readonly how: 'fails' | 'no answer' | 'works' };

const ofServer = fc.nat(2);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('write' as const), script }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(60) }) },
  fc.record({ kind: fc.constant('depose' as const) }),
  fc.record({ kind: fc.constant('crash' as const), server: ofServer }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('start' as const), server: ofServer }) },
  fc.record({ kind: fc.constant('late' as const), server: ofServer, ms: fc.nat(200) }),
  fc.record({ kind: fc.constant('slow' as const), ms: fc.nat(60) }),
  fc.record({
    kind: fc.constant('fail' as const),
    how: fc.constantFrom('fails' as const, 'no answer' as const, 'works' as const),
  }),
);

/** Runs the moves. Resolves with the scripts that ran, by term and index, and the acknowledged places. */
async function play(servers: Servers, moves: readonly Move[]) {
  const ran = new Map<string, Parameters<typeof runScript>[1]>();
  const acknowledged = new Set<string>();
  const { faults } = servers.log;
  const write = ({ state }: Server, one: Parameters<typeof runScript>[1]) => {
    let place = '';
    const epoch = state.leading?.epoch;
    const written = state.write((transaction) => {
      place = `${epoch} ${transaction.index}`;
      runScript(transaction, one);
      ran.set(place, one);
    });
    written.then(
      ({ index }) => place === `${epoch} ${index}` && acknowledged.add(place),
      () => {},
    );
  };
  for (const one of moves) {
    if (one.kind === 'write') for (const server of servers.living) write(server, one.script);
    if (one.kind === 'pass') await servers.world.advance(one.ms);
    if (one.kind === 'depose') servers.log.depose();
    if (one.kind === 'crash') servers.crash(one.server);
    if (one.kind === 'start' && servers.all[one.server] === undefined)
      await servers.start(one.server);
    if (one.kind === 'slow') faults.appendDelayMs = one.ms;
    if (one.kind === 'late') {
      const server = servers.all[one.server];
      if (server !== undefined) server.engine.deliveryDelayMs = one.ms;
    }
    if (one.kind === 'fail') {
      faults.failAppend = one.how === 'fails' ? () => new Error('the log is away') : undefined;
      faults.loseAnswer = one.how === 'no answer' ? () => true : undefined;
    }
  }
  faults.failAppend = undefined;
  faults.loseAnswer = undefined;
  return { ran, acknowledged };
}

test('whichever server leads, dies or is late: all show the log, and no acknowledged write is lost', async () => {
  let moved = 0;
  const property = fc.asyncProperty(
    fc.array(move, { maxLength: 40 }),
    fc.constantFrom(3, 1000),
    fc.constantFrom(1, 1_000_000),
    async (moves, marksPerIndex, logBytes) => {
      const servers = await new Servers({ marksPerIndex, logBytes }).open(3);
      const { ran, acknowledged } = await play(servers, moves);
      await servers.world.advance(2 * settleMs);
      for (const number of [0, 1, 2]) {
        if (servers.all[number] === undefined) await servers.start(number);
      }
      await servers.world.advance(2 * settleMs);
      const oracle = new Oracle();
      const stored = new Set<string>();
      for (const { first, last, epoch } of servers.appended) {
        for (let index = first; index <= last; index++) {
          stored.add(`${epoch} ${index}`);
          oracle.apply(ran.get(`${epoch} ${index}`)!);
        }
      }
      const { leader } = servers;
      const isPruned = marksPerIndex === 3;
      for (const { state, heard } of servers.living) {
        expect(state.closed).toBeUndefined();
        expect(dump(state.read())).toEqual(isPruned ? dump(leader.state.read()) : expected(oracle));
        const indexes = heard.map(({ index }) => index);
        expect(indexes).toEqual(
          indexes.map((_, at) => state.read().index - indexes.length + 1 + at),
        );
      }
      for (const place of acknowledged) expect(stored).toContain(place);
      expect(leader.state.read().index).toBe(oracle.index);
      if (servers.log.epoch > 1) moved++;
    },
  );
  await fc.assert(property, { numRuns: 60 });
  expect(moved).toBeGreaterThan(5);
});

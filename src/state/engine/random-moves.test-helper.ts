/** Random faults of a shared log, and what has to hold after them. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { NotLeading } from '../errors.ts';
import { dump, expected, Oracle, runScript, script } from '../items.test-helper.ts';
import type { State } from '../types.ts';
import { type Bench, BenchServers } from './shared-engine.test-helper.ts';

type Move =
  | { readonly kind: 'write'; readonly script: Parameters<typeof runScript>[1] }
  | { readonly kind: 'pass'; readonly share: number }
  | { readonly kind: 'depose' }
  | { readonly kind: 'step down'; readonly successor: number }
  | { readonly kind: 'crash'; readonly server: number }
  | { readonly kind: 'start'; readonly server: number }
  | { readonly kind: 'late'; readonly server: number; readonly ms: number }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'fail'; readonly how: 'fails' | 'no answer' | 'works' };

const ofServer = fc.nat(2);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('write' as const), script }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), share: fc.nat(12) }) },
  fc.record({ kind: fc.constant('depose' as const) }),
  fc.record({ kind: fc.constant('step down' as const), successor: fc.nat(3) }),
  fc.record({ kind: fc.constant('crash' as const), server: ofServer }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('start' as const), server: ofServer }) },
  fc.record({ kind: fc.constant('late' as const), server: ofServer, ms: fc.nat(200) }),
  fc.record({ kind: fc.constant('slow' as const), ms: fc.nat(60) }),
  fc.record({
    kind: fc.constant('fail' as const),
    how: fc.constantFrom('fails' as const, 'no answer' as const, 'works' as const),
  }),
);

/** Scripts that ran, by term and index, and their outcomes. */
interface Played {
  readonly ran: Map<string, Parameters<typeof runScript>[1]>;
  readonly acknowledged: Set<string>;
  /** Refused as not done, and never acknowledged. */
  readonly refused: Set<string>;
}

/** Runs the moves. */
async function play(servers: BenchServers<Bench>, moves: readonly Move[]): Promise<Played> {
  const played: Played = { ran: new Map(), acknowledged: new Set(), refused: new Set() };
  const { bench } = servers;
  for (const one of moves) {
    if (one.kind === 'write') for (const { state } of servers.living) write(state, one, played);
    if (one.kind === 'pass') await bench.advance((one.share / 100) * bench.settleMs);
    if (one.kind === 'depose') bench.depose();
    if (one.kind === 'step down') {
      const name = servers.all[one.successor]?.engine.candidate;
      void servers.leader?.state.stepDown(false, name);
    }
    if (one.kind === 'crash') servers.crash(servers.all[one.server]);
    if (one.kind === 'start' && servers.all[one.server] === undefined) {
      bench.answers('works');
      await servers.start(one.server);
    }
    if (one.kind === 'slow') bench.slow(one.ms);
    if (one.kind === 'late') servers.all[one.server]?.hearAfter(one.ms);
    if (one.kind === 'fail') bench.answers(one.how);
  }
  bench.answers('works');
  return played;
}

function write(
  state: State,
  { script: run }: Extract<Move, { kind: 'write' }>,
  { ran, acknowledged, refused }: Played,
): void {
  let place = '';
  const epoch = state.leading?.epoch;
  const written = state.write((transaction) => {
    place = `${epoch} ${transaction.index}`;
    runScript(transaction, run);
    // A script that changes nothing leaves its index to the next one.
    if (transaction.hasChanged) ran.set(place, run);
    else place = '';
  });
  written.then(
    ({ index }) => place === `${epoch} ${index}` && acknowledged.add(place),
    (error: unknown) => error instanceof NotLeading && ran.has(place) && refused.add(place),
  );
}

const rising = (left: number, right: number) => left - right;

/** Returns the number of runs in which leadership moved. */
export async function checkRandomMoves(bench: () => Bench, numRuns: number): Promise<number> {
  let moved = 0;
  const property = fc.asyncProperty(
    fc.array(move, { maxLength: 40 }),
    fc.constantFrom(3, 1000),
    fc.constantFrom(1, 1_000_000),
    async (moves, marksPerIndex, logBytes) => {
      const limits = { marksPerIndex, deferredKeys: marksPerIndex, logBytes };
      const servers = await new BenchServers(bench(), limits).open(3);
      await servers.bench.advance(servers.bench.settleMs);
      const { settleMs } = servers.bench;
      const { ran, acknowledged, refused } = await play(servers, moves);
      servers.bench.slow(0);
      servers.bench.calm?.();
      await servers.bench.advance(3 * settleMs);
      for (const number of [0, 1, 2]) {
        if (servers.all[number] === undefined) await servers.start(number);
      }
      await servers.bench.advance(2 * settleMs);
      const oracle = new Oracle();
      const stored = new Set<string>();
      let newest = 0;
      for (const { first, last, epoch } of servers.bench.appended) {
        // A single leader appends at a time.
        expect(epoch).toBeGreaterThanOrEqual(newest);
        newest = epoch;
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
        const last = state.read().index;
        const everyIndex = indexes.map((_, at) => last - indexes.length + 1 + at);
        // A snapshot in place of batches is a single commit.
        const isWhole = servers.bench.keepsLog || logBytes > 1;
        expect(indexes).toEqual(isWhole ? everyIndex : [...new Set(indexes)].sort(rising));
        expect(indexes.at(-1) ?? last).toBe(last);
      }
      for (const place of acknowledged) expect(stored).toContain(place);
      for (const place of refused) expect(stored).not.toContain(place);
      expect(leader.state.read().index).toBe(oracle.index);
      if (new Set(servers.living.flatMap(({ terms }) => terms)).size > 1) moved++;
      servers.end();
    },
  );
  await fc.assert(property, { numRuns });
  return moved;
}

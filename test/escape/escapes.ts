/** The table of attempts as tests, in given surroundings. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { needing, root } from '../../src/base/not-run.test-helper.ts';
import { endAgents } from '../support/agent.ts';
import { drawn } from '../support/draw.ts';
import { type Attempt, type Opening, tried } from './attempt.ts';
import { Camp, type NodeKind, nameOf, type Surroundings } from './camp.ts';
import { type Outcome, runAttempt, runOutside } from './run-attempt.ts';
import { attempts, openings } from './table.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** `prepare` sets up the rest of the surroundings. */
export function escapes(
  { driver, agent }: Surroundings,
  prepare: () => Promise<Partial<Surroundings>> = async () => ({}),
): void {
  const here = <Row extends Opening>(all: readonly Row[]) =>
    all
      .filter(
        ({ drivers, agents = ['root', 'plain'] }) =>
          drivers.includes(driver) && agents.includes(agent),
      )
      .map((row) => ({ name: `${driver}, agent as ${agent}: ${row.name}`, row }));
  const chosen = drawn(here(attempts));
  const open = drawn(here(openings));
  let camp: Camp;

  beforeAll(async () => {
    const surroundings = { driver, agent, ...(await prepare()) };
    const kinds = chosen.flatMap(({ row }) => [fortress(row), ruin(row) ?? []].flat());
    camp = await Camp.pitch(
      surroundings,
      different([...kinds, ...open.map(({ row }) => fortress(row))]),
    );
  });
  afterAll(async () => {
    await camp?.strike();
    await endAgents();
  });

  describe.concurrent('an attempt fails, and its neighbour runs on unharmed', needing(root), () => {
    test.each(chosen)('$name', async ({ row: attempt }) => {
      const node = nameOf(fortress(attempt));
      const outcome = await runAttempt(camp, node, attempt);
      expect([outcome.succeeded, outcome.isStuck], textOf(outcome)).toEqual([false, false]);
      if (attempt.refusal === undefined) expect(outcome.output, textOf(outcome)).toContain(tried);
      else expect(outcome.refusal, textOf(outcome)).toMatch(attempt.refusal);
      await camp.checkNeighbour(node);
    });
  });

  describe.concurrent('the same attempt succeeds without the defence', needing(root), () => {
    test.each(chosen)('$name', async ({ row: attempt }) => {
      const outcome = await counterProof(camp, attempt);
      const wanted = [true, attempt.holdsUp === true];
      expect([outcome.succeeded, outcome.isStuck], textOf(outcome)).toEqual(wanted);
    });
  });

  // A group without tests fails.
  if (open.length === 0) return;
  describe.concurrent(
    'an action that no defence prevents, as docs/security.md says',
    needing(root),
    () => {
      test.each(open)('$name', async ({ row }) => {
        const outcome = await runAttempt(camp, nameOf(fortress(row)), row);
        expect([outcome.succeeded, outcome.isStuck], textOf(outcome)).toEqual([true, false]);
      });
    },
  );
}

const textOf = ({ refusal, output }: Outcome): string => `${refusal}\n${output}`;

const fortress = ({ operator = 'strict', isLiedTo = false }: Opening): NodeKind => ({
  operator,
  without: [],
  isLiedTo,
});

/** The node on which the attempt succeeds; `undefined`: none. */
function ruin({ counter, operator = 'strict' }: Attempt): NodeKind | undefined {
  if (counter === 'outside') return undefined;
  if (!('without' in counter)) return { operator: counter.operator, without: [], isLiedTo: false };
  const { without, isLiedTo = false } = counter;
  return { operator, without, isLiedTo };
}

const different = (kinds: readonly NodeKind[]): readonly NodeKind[] => [
  ...new Map(kinds.map((kind) => [nameOf(kind), kind])).values(),
];

async function counterProof(camp: Camp, attempt: Attempt): Promise<Outcome> {
  const kind = ruin(attempt);
  return kind === undefined
    ? runOutside(camp, nameOf(fortress(attempt)), attempt)
    : runAttempt(camp, nameOf(kind), attempt);
}

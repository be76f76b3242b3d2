import { each, type Steps } from '../../base/steps.ts';
import { allocations, jobs, namespaces, nodes } from '../../state/tables.ts';
import type { Change, Snapshot, Stamps, State } from '../../state/types.ts';
import { AllocationTally } from '../tallies/allocations.ts';
import type { Counts } from '../tallies/counts.ts';
import { JobTally } from '../tallies/jobs.ts';
import { HeldTally } from '../tallies/nodes.ts';
import type { Tally } from '../tallies/tally.ts';

/** The tables whose changes can change the numbers. */
export const overviewTables = [jobs, allocations, nodes, namespaces] as const;

const newTallies = () => ({
  jobs: new JobTally(),
  allocations: new AllocationTally(),
  held: new HeldTally(),
});
type TallySet = ReturnType<typeof newTallies>;

/** A count from scratch, and the changes that wait for its end. */
interface Counting {
  readonly tallies: TallySet;
  readonly waiting: (readonly Change[])[];
}

/**
 * The numbers of an overview.
 *
 * Invariants
 *  O1. The first read counts every row, in steps. From then on a commit changes the counts, and a read walks no jobs and no
 *      allocations.
 *  O2. Changes during the count from scratch are applied after it, in their order.
 *  O3. It holds nothing before the first read, and forgets all when the state is replaced.
 */
export class OverviewCounts {
  #counted: TallySet | undefined;
  #countings = new Set<Counting>();

  constructor(state: Pick<State, 'onCommit' | 'onReplaced'>) {
    state.onCommit((changes) => {
      if (this.#counted !== undefined) apply(this.#counted, changes);
      for (const { waiting } of this.#countings) waiting.push(changes);
    });
    state.onReplaced(() => {
      this.#counted = undefined;
      this.#countings = new Set();
    });
  }

  *read(snapshot: Snapshot): Steps<TallySet> {
    if (this.#counted !== undefined) return this.#counted;
    const counting: Counting = { tallies: newTallies(), waiting: [] };
    const countings = this.#countings;
    countings.add(counting);
    try {
      for (const tally of all(counting.tallies)) {
        const rows = snapshot.table<Stamps, string>(tally.table).scan();
        yield* each(rows, (row) => tally.load(row));
      }
      for (const changes of counting.waiting) apply(counting.tallies, changes);
      if (countings === this.#countings) this.#counted ??= counting.tallies;
      return counting.tallies;
    } finally {
      countings.delete(counting);
    }
  }
}

const all = (tallies: TallySet): readonly Tally<Stamps>[] =>
  Object.values(tallies) as unknown as readonly Tally<Stamps>[];

function apply(tallies: TallySet, changes: readonly Change[]): void {
  for (const { table, before, after } of changes) {
    for (const tally of all(tallies)) {
      if (tally.table.name === table) tally.change(before, after);
    }
  }
}

/** The sums of the columns over the namespaces that are wanted. */
export function sumsIn(
  counts: Counts,
  columns: Readonly<Record<string, number>>,
  isWanted: (namespace: string) => boolean,
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { labels, values } of counts.byLabel('namespace')) {
    if (!isWanted(labels.namespace!)) continue;
    for (const [name, at] of Object.entries(columns)) {
      if (values[at]! > 0) sums[name] = (sums[name] ?? 0) + values[at]!;
    }
  }
  return sums;
}

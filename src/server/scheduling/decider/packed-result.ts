import type { Plan } from '../../../model/plan/plan.ts';
import type { SchedulerResult } from '../../../scheduler/view.ts';

/**
 * A result on its way between two threads. The rows of a plan are alike: a copy of each whole row would take longer than
 * its decision did.
 */
export type PackedResult = Omit<SchedulerResult, 'plan'> & {
  readonly plan: Omit<Plan, 'placements' | 'inPlaceUpdates'>;
  readonly placements: readonly Run<Plan['placements'][number]>[];
  readonly inPlaceUpdates: readonly Run<Plan['inPlaceUpdates'][number]>[];
};

/** Rows with the same fields. */
interface Run<R> {
  readonly count: number;
  /** The first row, whose fields the others share unless they are in `columns`. */
  readonly first: R;
  readonly columns: readonly (readonly [field: keyof R, values: readonly R[keyof R][]])[];
}

export function packed({ plan, ...result }: SchedulerResult): PackedResult {
  const { placements, inPlaceUpdates, ...rest } = plan;
  return {
    ...result,
    plan: rest,
    placements: runsOf(placements),
    inPlaceUpdates: runsOf(inPlaceUpdates),
  };
}

export function unpacked({
  plan,
  placements,
  inPlaceUpdates,
  ...result
}: PackedResult): SchedulerResult {
  const rows = { placements: rowsOf(placements), inPlaceUpdates: rowsOf(inPlaceUpdates) };
  return { ...result, plan: { ...plan, ...rows } };
}

function runsOf<R extends object>(rows: readonly R[]): Run<R>[] {
  const runs: Run<R>[] = [];
  let from = 0;
  while (from < rows.length) {
    const first = rows[from]!;
    const fields = Object.keys(first) as (keyof R)[];
    let to = from + 1;
    while (to < rows.length && hasFields(rows[to]!, fields)) to++;
    const run = rows.slice(from, to);
    const differing = fields.filter((field) => run.some((row) => row[field] !== first[field]));
    const columns = differing.map((field) => [field, run.map((row) => row[field])] as const);
    runs.push({ count: run.length, first, columns });
    from = to;
  }
  return runs;
}

function hasFields<R extends object>(row: R, fields: readonly (keyof R)[]): boolean {
  const own = Object.keys(row);
  return own.length === fields.length && own.every((field, at) => field === fields[at]);
}

function rowsOf<R extends object>(runs: readonly Run<R>[]): R[] {
  const rows: R[] = [];
  for (const { count, first, columns } of runs) {
    for (let at = 0; at < count; at++) {
      const row = { ...first };
      for (const [field, values] of columns) row[field] = values[at]!;
      rows.push(row);
    }
  }
  return rows;
}

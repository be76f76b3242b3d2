import { pause } from '../../../base/slices.ts';
import { refusal } from '../../../model/errors.ts';
import type { Evaluation } from '../../../model/evaluation/evaluation.ts';
import { limits } from '../../../model/limits.ts';
import { evaluations, inNamespace } from '../../../state/tables.ts';
import type { Key, Snapshot, Transaction } from '../../../state/types.ts';
import { rowWithId } from '../../checks.ts';
import type { ServerContext } from '../../context.ts';
import { refreshJobStatus } from '../job-status.ts';

export interface Deleted {
  readonly count: number;
  readonly index: number;
}

/**
 * Deletes evaluations, whatever their status. A deleted evaluation is not decided any more.
 * Source: docs/behaviour/evaluations.md#read-and-delete.
 * @throws RosterError `evaluation-not-found`; then none is deleted
 */
export async function deleteEvaluations(
  { state }: ServerContext,
  ids: readonly string[],
): Promise<Deleted> {
  const { index, value: count } = await state.write((transaction) => {
    const found = new Set<Evaluation>();
    for (const id of ids) {
      const evaluation = evaluationById(transaction, id);
      if (evaluation === undefined) throw refusal('evaluation-not-found', { id });
      found.add(evaluation);
    }
    remove(transaction, [...found]);
    return found.size;
  });
  return { count, index };
}

export const evaluationById = (snapshot: Snapshot, id: string): Evaluation | undefined =>
  rowWithId(snapshot.table(evaluations), id);

/**
 * Deletes all evaluations that match, page by page, so that others get their turn. Evaluations made
 * meanwhile may be left.
 */
export async function deleteMatchingEvaluations(
  { state, world }: ServerContext,
  prefix: Key,
  matches: (evaluation: Evaluation) => boolean,
): Promise<Deleted> {
  let count = 0;
  let index = state.read().index;
  let from: Key | undefined;
  for (;;) {
    const page: Evaluation[] = [];
    const range = { prefix, ...(from && { from }) };
    for (const row of state.head().table(evaluations).scan(range)) {
      page.push(row);
      if (page.length === limits.evaluation.deletedPageRows) break;
    }
    const found = page.filter(matches);
    if (found.length > 0) {
      const written = await state.write((transaction) => remove(transaction, found));
      count += written.value;
      index = written.index;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < limits.evaluation.deletedPageRows) break;
    // The last row of this page may be deleted, but its key still marks the place.
    from = inNamespace(last.Namespace, last.ID);
    await pause(world.timers);
  }
  return { count, index };
}

function remove(transaction: Transaction, list: readonly Evaluation[]): number {
  const table = transaction.table(evaluations);
  const affected = new Map<string, Evaluation>();
  let count = 0;
  for (const evaluation of list) {
    const { Namespace, ID, JobID } = evaluation;
    if (!table.delete(...inNamespace(Namespace, ID))) continue;
    count++;
    affected.set(inNamespace(Namespace, JobID).join('\0'), evaluation);
  }
  for (const { Namespace, JobID } of affected.values()) {
    refreshJobStatus(transaction, Namespace, JobID, true);
  }
  return count;
}

import { instantToMs } from '../../base/instant.ts';
import { type PlacementReason, placementReason } from '../../model/allocation/placement-reason.ts';
import { type Evaluation, evaluationStatuses } from '../../model/evaluation/evaluation.ts';
import { evaluations, numberPart } from '../../state/tables.ts';
import { Tree } from '../../state/tree.ts';
import { columnsOf, Tally } from './tally.ts';

const columns = columnsOf(evaluationStatuses);

/** Statuses in which an evaluation waits. */
export const waitingStatuses = ['pending', 'blocked'] as const;
type WaitingStatus = (typeof waitingStatuses)[number];

/** Evaluations by status, the age of those that wait, and the placements that failed since the counting began. */
export class EvaluationTally extends Tally<Evaluation> {
  readonly table = evaluations;
  readonly columns = evaluationStatuses;
  readonly values: number[] = evaluationStatuses.map(() => 0);
  readonly failures = new Map<PlacementReason, number>();
  /** The time from which on each of them waits, then its id. */
  readonly #waiting = { pending: Tree.empty<true>(), blocked: Tree.empty<true>() };

  /** When the oldest of them began to wait, in Unix milliseconds; `undefined`: none waits. */
  oldestMs(status: WaitingStatus): number | undefined {
    const key = this.#waiting[status].leastKey();
    return key === undefined ? undefined : Number.parseInt(key.slice(0, key.indexOf('\0')), 16);
  }

  protected count(evaluation: Evaluation, by: 1 | -1): void {
    const { Status, ID, CreateTime, WaitUntil } = evaluation;
    this.values[columns[Status]]! += by;
    if (Status !== 'pending' && Status !== 'blocked') return;
    const key = `${numberPart(instantToMs(Math.max(CreateTime, WaitUntil)))}\0${ID}`;
    if (by === 1) this.#waiting[Status].set(key, true);
    else this.#waiting[Status].delete(key);
  }

  override change(before: Evaluation | undefined, after: Evaluation | undefined): void {
    // The two may have the same key.
    if (before !== undefined) this.count(before, -1);
    if (after === undefined) return;
    this.count(after, 1);
    if (isDecided(before, after)) this.#noteFailures(after);
  }

  #noteFailures({ FailedTGAllocs }: Evaluation): void {
    for (const metrics of Object.values(FailedTGAllocs ?? {})) {
      const reason = placementReason(metrics);
      const count = this.failures.get(reason) ?? 0;
      this.failures.set(reason, count + metrics.CoalescedFailures + 1);
    }
  }
}

/** A blocked evaluation begins with the failures of the evaluation that it follows. */
const isDecided = (before: Evaluation | undefined, after: Evaluation): boolean =>
  before === undefined ? after.Status !== 'blocked' : before.SnapshotIndex !== after.SnapshotIndex;

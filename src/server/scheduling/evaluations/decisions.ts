import { limits } from '../../../model/limits.ts';
import type { Plan } from '../../../model/plan/plan.ts';
import type { Decision } from '../../../scheduler/explain/placement.ts';

/** A decision, and which of its placements is meant. */
export interface FoundPlacement {
  readonly decision: Decision;
  /** In the order of the plan. */
  readonly position: number;
}

interface Kept {
  readonly decision: Decision;
  /** Ids of what the plan placed, in its order. */
  readonly placed: readonly string[];
  /** Rows that had changed before it. */
  readonly atRow: number;
}

/**
 * The newest decisions that placed something, each with the view that it was made on. They are gone
 * after a restart.
 *
 * A view holds on to every row and tree node that changed since it was taken: 2 to 3 KB for each
 * changed row, measured. So what counts is not how many views are kept but how much changes while
 * they are: a decision is kept as long as it is among the newest `decisionsKept`, and no more than
 * `decisionRowsMax` rows have changed since.
 */
export class Decisions {
  /** The oldest first. */
  #kept: Kept[] = [];
  #rows = 0;

  note(decision: Decision, { placements }: Pick<Plan, 'placements'>): void {
    if (placements.length === 0) return;
    const placed = placements.map(({ ID }) => ID);
    this.#kept.push({ decision, placed, atRow: this.#rows });
    if (this.#kept.length > limits.scheduler.decisionsKept) this.#kept.shift();
  }

  /** So many rows have changed. */
  changed(rows: number): void {
    this.#rows += rows;
    const oldest = this.#rows - limits.scheduler.decisionRowsMax;
    if (this.#kept.length === 0 || this.#kept[0]!.atRow >= oldest) return;
    this.#kept = this.#kept.filter(({ atRow }) => atRow >= oldest);
  }

  /** The decision that placed the allocation; `undefined` when it is no longer kept. */
  find(allocationId: string): FoundPlacement | undefined {
    for (const { decision, placed } of this.#kept) {
      const position = placed.indexOf(allocationId);
      if (position >= 0) return { decision, position };
    }
    return undefined;
  }
}

import { limits } from '../../../model/limits.ts';
import type { Plan } from '../../../model/plan/plan.ts';
import type { Decision } from '../../../scheduler/explain/placement.ts';

/** The decision that placed an allocation, and the allocation's position in it. */
export interface FoundPlacement {
  readonly decision: Decision;
  /** In the order of the plan. */
  readonly position: number;
}

interface Kept {
  readonly decision: Decision;
  /** Ids of the placed allocations, in the order of the plan. */
  readonly placed: readonly string[];
  /** The number of rows that had changed before the decision. */
  readonly atRow: number;
}

/**
 * The newest decisions that placed something, each with the view that it was made on. A restart
 * forgets them.
 *
 * A view keeps every row and tree node that has changed since it was taken: 2 to 3 KB for each
 * changed row, measured. So memory is bounded by the number of changes: a decision is kept as long
 * as it is among the newest `decisionsKept` and no more than `decisionRowsMax` rows have changed
 * since.
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

  /** Counts changed rows. */
  changed(rows: number): void {
    this.#rows += rows;
    const oldest = this.#rows - limits.scheduler.decisionRowsMax;
    if (this.#kept.length === 0 || this.#kept[0]!.atRow >= oldest) return;
    this.#kept = this.#kept.filter(({ atRow }) => atRow >= oldest);
  }

  /** The decision that placed the allocation; `undefined`: it is no longer kept. */
  find(allocationId: string): FoundPlacement | undefined {
    for (const { decision, placed } of this.#kept) {
      const position = placed.indexOf(allocationId);
      if (position >= 0) return { decision, position };
    }
    return undefined;
  }
}

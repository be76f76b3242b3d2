import type { Timer } from '../../../base/ports.ts';
import type { Evaluation } from '../../../model/evaluation/evaluation.ts';
import { limits } from '../../../model/limits.ts';
import type { FreeRoom, JobNeed } from '../../../scheduler/placing/free-room.ts';
import type { SchedulerConfiguration } from '../../../scheduler/view.ts';

/** A node on which resources were freed or added, or that became eligible. */
export interface RoomOn {
  readonly nodeId: string;
  readonly nodeClass: string;
}

interface Waiting {
  readonly evaluation: Evaluation;
  /** The least that the job needs. */
  readonly want: JobNeed;
}

interface Offer extends RoomOn {
  readonly index: number;
  readonly freeRoom: FreeRoom;
}

export interface BlockedOptions {
  /**
   * Lets the evaluation run again. It is reported back by `decided`, or by `remove` when it has
   * ended.
   */
  readonly release: (evaluation: Evaluation) => void;
  /** Another evaluation of its job, or of its job and node, waits in its place. */
  readonly supersede: (evaluation: Evaluation) => void;
  readonly jobNeedOf: (evaluation: Evaluation) => JobNeed;
  /** For which types of jobs allocations of other jobs are evicted. */
  readonly preemption: () => SchedulerConfiguration['preemption'];
  /** `undefined`: the node takes no work. */
  readonly freeRoomOf: (nodeId: string) => FreeRoom | undefined;
  readonly soon: (run: () => void) => Timer;
}

/**
 * Evaluations that wait for room. When there is room, evaluations that it may help are released in
 * small batches, by priority, until it helps none any more.
 * Source: docs/behaviour/evaluations.md#blocked-evaluations.
 *
 * Invariants
 *  K1. At most one evaluation of a job waits; of a system job, one for each node. A newer one takes
 *      the place of an older one.
 *  K2. Room that came after the snapshot of an evaluation is offered to it, even if it came before
 *      the evaluation arrived here: nothing is missed.
 *  K3. An evaluation is not woken by room on a class of nodes that it is known not to fit, by room on
 *      another node than it waits for, or by room that is too small for any of its job's groups. If
 *      the job may evict others, the resources of those others count as room.
 *  K4. A node's room stays on offer until it helps none of the waiting evaluations. One batch is out at
 *      a time, so that the next one sees what the last one left.
 */
export class BlockedEvaluations {
  readonly #options: BlockedOptions;
  readonly #byWaiter = new Map<string, Waiting>();
  /** All of them, by priority, then in the order of creation. */
  readonly #order: Waiting[] = [];
  /** Class and last room of each node, with the index at which the room came. */
  readonly #rooms = new Map<string, { readonly nodeClass: string; readonly index: number }>();
  #newestRoom = 0;
  /** Nodes whose room is on offer. */
  readonly #offered = new Set<string>();
  /** Ids of the released batch. */
  readonly #out = new Set<string>();
  #next: Timer | undefined;

  constructor(options: BlockedOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byWaiter.size;
  }

  add(evaluation: Evaluation): void {
    const waiter = waiterOf(evaluation);
    const other = this.#byWaiter.get(waiter)?.evaluation;
    if (other !== undefined && other.ID !== evaluation.ID) {
      const older = seenIndex(other) <= seenIndex(evaluation) ? other : evaluation;
      this.#options.supersede(older);
      if (older === evaluation) return;
    }
    this.#dropWaiter(waiter);
    const waiting = { evaluation, want: this.#options.jobNeedOf(evaluation) };
    this.#byWaiter.set(waiter, waiting);
    this.#order.splice(this.#positionOf(waiting), 0, waiting);
    if (this.#newestRoom <= evaluation.SnapshotIndex) return;
    for (const [nodeId, { nodeClass, index }] of this.#rooms) {
      const room = { nodeId, nodeClass };
      if (index > evaluation.SnapshotIndex && mayFit(evaluation, room)) this.#offer(nodeId);
    }
  }

  madeRoom({ nodeId, nodeClass }: RoomOn, index: number): void {
    this.#rooms.set(nodeId, { nodeClass, index });
    this.#newestRoom = Math.max(this.#newestRoom, index);
    this.#offer(nodeId);
  }

  /** Forgets the room of a node that is gone. */
  forget(nodeId: string): void {
    this.#rooms.delete(nodeId);
    this.#offered.delete(nodeId);
  }

  /** A released evaluation has been decided, whatever came of it. */
  decided(id: string): void {
    if (this.#out.delete(id) && this.#out.size === 0) this.#scheduleRound();
  }

  /** The evaluation has ended, or its job is gone. */
  remove(evaluation: Pick<Evaluation, 'ID' | 'Namespace' | 'JobID' | 'NodeID'>): void {
    const waiter = waiterOf(evaluation);
    if (this.#byWaiter.get(waiter)?.evaluation.ID === evaluation.ID) this.#dropWaiter(waiter);
    this.decided(evaluation.ID);
  }

  clear(): void {
    this.#next?.clear();
    this.#next = undefined;
    this.#byWaiter.clear();
    this.#order.length = 0;
    this.#rooms.clear();
    this.#newestRoom = 0;
    this.#offered.clear();
    this.#out.clear();
  }

  #offer(nodeId: string): void {
    this.#offered.add(nodeId);
    this.#scheduleRound();
  }

  /** Not at once, since an evaluation that just arrived may still have to be acknowledged. */
  #scheduleRound(): void {
    if (this.#next !== undefined || this.#out.size > 0 || this.#offered.size === 0) return;
    this.#next = this.#options.soon(() => {
      this.#next = undefined;
      this.#runRound();
    });
  }

  #runRound(): void {
    if (this.#out.size > 0) return;
    const nodeIds = [...this.#offered].slice(0, limits.evaluation.offersPerRoundMax);
    const batch = this.#helpedBy(this.#offersOn(nodeIds));
    if (batch.length === 0) {
      for (const nodeId of nodeIds) this.#offered.delete(nodeId);
      this.#scheduleRound();
      return;
    }
    for (const { evaluation } of batch) this.#out.add(evaluation.ID);
    for (const { evaluation } of batch) {
      this.#dropWaiter(waiterOf(evaluation));
      this.#options.release(evaluation);
    }
  }

  #offersOn(nodeIds: readonly string[]): readonly Offer[] {
    // Finding out the room of a node costs a look at each of its allocations.
    if (this.#order.length === 0) return [];
    return nodeIds.flatMap((nodeId) => {
      const room = this.#rooms.get(nodeId);
      const freeRoom = this.#options.freeRoomOf(nodeId);
      return room === undefined || freeRoom === undefined ? [] : [{ nodeId, ...room, freeRoom }];
    });
  }

  #helpedBy(offers: readonly Offer[]): readonly Waiting[] {
    const batch: Waiting[] = [];
    if (offers.length === 0) return batch;
    const preemption = this.#options.preemption();
    for (const waiting of this.#order) {
      const { evaluation, want } = waiting;
      const { Namespace, JobID, SnapshotIndex, Type } = evaluation;
      const offer = offers.find(
        (room) =>
          room.index > SnapshotIndex &&
          mayFit(evaluation, room) &&
          (room.freeRoom.mayTake(Namespace, JobID, want.need) ||
            (preemption[Type] && room.freeRoom.mayTakeByEviction(want))),
      );
      if (offer === undefined) continue;
      // Keeps the batch from growing larger than the room.
      offer.freeRoom.reserve(want.need);
      batch.push(waiting);
      if (batch.length === limits.evaluation.releaseBatchMax) break;
    }
    return batch;
  }

  #dropWaiter(waiter: string): void {
    const waiting = this.#byWaiter.get(waiter);
    if (waiting === undefined) return;
    this.#byWaiter.delete(waiter);
    this.#order.splice(this.#positionOf(waiting), 1);
  }

  /** The position of an evaluation in the order, whether it is there or not. */
  #positionOf(waiting: Waiting): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#order[middle]!.evaluation, waiting.evaluation)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(left: Evaluation, right: Evaluation): boolean {
  if (left.Priority !== right.Priority) return left.Priority > right.Priority;
  if (left.CreateIndex !== right.CreateIndex) return left.CreateIndex < right.CreateIndex;
  return left.ID < right.ID;
}

function mayFit(evaluation: Evaluation, { nodeId, nodeClass }: RoomOn): boolean {
  if (evaluation.NodeID !== '') return evaluation.NodeID === nodeId;
  return evaluation.EscapedComputedClass || evaluation.ClassEligibility?.[nodeClass] !== false;
}

const seenIndex = ({ CreateIndex, SnapshotIndex }: Evaluation): number =>
  Math.max(CreateIndex, SnapshotIndex);

/** A job, or a job on a node. */
const waiterOf = ({
  Namespace,
  JobID,
  NodeID,
}: Pick<Evaluation, 'Namespace' | 'JobID' | 'NodeID'>): string =>
  `${Namespace}\0${JobID}\0${NodeID}`;

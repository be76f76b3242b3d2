import type { Timer } from '../../base/ports.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import { limits } from '../../model/limits.ts';
import type { Need } from '../../scheduler/resources.ts';
import type { Vacancy } from '../../scheduler/vacancy.ts';

/** Where something was freed, added or made eligible. */
export interface RoomOn {
  readonly nodeId: string;
  readonly nodeClass: string;
}

interface Waiting {
  readonly evaluation: Evaluation;
  /** What it needs at least. */
  readonly need: Need;
}

interface Offer {
  readonly nodeClass: string;
  readonly index: number;
  readonly vacancy: Vacancy;
}

export interface BlockedOptions {
  /** May run again. It is heard of again by `decided`, or by `remove` when it is over. */
  readonly release: (evaluation: Evaluation) => void;
  /** Another evaluation of its job waits in its place. */
  readonly supersede: (evaluation: Evaluation) => void;
  readonly needOf: (evaluation: Evaluation) => Need;
  /** `undefined`: the node takes no work. */
  readonly vacancyOf: (nodeId: string) => Vacancy | undefined;
  readonly soon: (run: () => void) => Timer;
}

/**
 * Evaluations that wait for room. When there is some, those that it could help are let go in small
 * batches, the most important first, until it helps nobody any more.
 * Source: facts/scheduler.md §5.1 "Blocked", §6.8.
 *
 * Invariants
 *  K1. At most one evaluation of a job waits; a newer one takes the place of an older one.
 *  K2. Room that came after the snapshot an evaluation saw is offered to it, even when it came
 *      before the evaluation arrived here: nothing is missed.
 *  K3. Room on a class of nodes that the evaluation is known not to fit, or that is too small for
 *      all that its job asks for, does not wake it.
 *  K4. A node's room stays on offer until a look at all that wait finds nobody whom it could help;
 *      one batch is out at a time, so that the next one sees what the last one left.
 */
export class BlockedEvaluations {
  readonly #options: BlockedOptions;
  readonly #byJob = new Map<string, Waiting>();
  /** The same, the highest priority first, then in the order of creation. */
  readonly #order: Waiting[] = [];
  /** Class and index of the last room on each node that there is. */
  readonly #rooms = new Map<string, { readonly nodeClass: string; readonly index: number }>();
  #newestRoom = 0;
  /** Nodes whose room is on offer. */
  readonly #offered = new Set<string>();
  /** Ids of the batch that is out. */
  readonly #out = new Set<string>();
  #next: Timer | undefined;

  constructor(options: BlockedOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byJob.size;
  }

  add(evaluation: Evaluation): void {
    const job = jobOf(evaluation);
    const other = this.#byJob.get(job)?.evaluation;
    if (other !== undefined && other.ID !== evaluation.ID) {
      const older = seenIndex(other) <= seenIndex(evaluation) ? other : evaluation;
      this.#options.supersede(older);
      if (older === evaluation) return;
    }
    this.#drop(job);
    const waiting = { evaluation, need: this.#options.needOf(evaluation) };
    this.#byJob.set(job, waiting);
    this.#order.splice(this.#positionOf(waiting), 0, waiting);
    if (this.#newestRoom <= evaluation.SnapshotIndex) return;
    for (const [nodeId, { nodeClass, index }] of this.#rooms) {
      if (index > evaluation.SnapshotIndex && mayFit(evaluation, nodeClass)) this.#offer(nodeId);
    }
  }

  madeRoom({ nodeId, nodeClass }: RoomOn, index: number): void {
    this.#rooms.set(nodeId, { nodeClass, index });
    this.#newestRoom = Math.max(this.#newestRoom, index);
    this.#offer(nodeId);
  }

  /** The node is no more. */
  forget(nodeId: string): void {
    this.#rooms.delete(nodeId);
    this.#offered.delete(nodeId);
  }

  /** One that was let go has had its turn, whatever came of it. */
  decided(id: string): void {
    if (this.#out.delete(id) && this.#out.size === 0) this.#soon();
  }

  /** It is over, or its job has gone. */
  remove(evaluation: Pick<Evaluation, 'ID' | 'Namespace' | 'JobID'>): void {
    const job = jobOf(evaluation);
    if (this.#byJob.get(job)?.evaluation.ID === evaluation.ID) this.#drop(job);
    this.decided(evaluation.ID);
  }

  clear(): void {
    this.#next?.clear();
    this.#next = undefined;
    this.#byJob.clear();
    this.#order.length = 0;
    this.#rooms.clear();
    this.#newestRoom = 0;
    this.#offered.clear();
    this.#out.clear();
  }

  #offer(nodeId: string): void {
    this.#offered.add(nodeId);
    this.#soon();
  }

  /** Later, since an evaluation that just arrived may still have to be acknowledged. */
  #soon(): void {
    if (this.#next !== undefined || this.#out.size > 0 || this.#offered.size === 0) return;
    this.#next = this.#options.soon(() => {
      this.#next = undefined;
      this.#round();
    });
  }

  #round(): void {
    if (this.#out.size > 0) return;
    const nodeIds = [...this.#offered].slice(0, limits.evaluation.offersPerRoundMax);
    const batch = this.#helpedBy(this.#offersOn(nodeIds));
    if (batch.length === 0) {
      for (const nodeId of nodeIds) this.#offered.delete(nodeId);
      this.#soon();
      return;
    }
    for (const { evaluation } of batch) this.#out.add(evaluation.ID);
    for (const { evaluation } of batch) {
      this.#drop(jobOf(evaluation));
      this.#options.release(evaluation);
    }
  }

  #offersOn(nodeIds: readonly string[]): readonly Offer[] {
    return nodeIds.flatMap((nodeId) => {
      const room = this.#rooms.get(nodeId);
      const vacancy = this.#options.vacancyOf(nodeId);
      return room === undefined || vacancy === undefined ? [] : [{ ...room, vacancy }];
    });
  }

  #helpedBy(offers: readonly Offer[]): readonly Waiting[] {
    const batch: Waiting[] = [];
    if (offers.length === 0) return batch;
    for (const waiting of this.#order) {
      const { evaluation, need } = waiting;
      const { Namespace, JobID, SnapshotIndex } = evaluation;
      const offer = offers.find(
        ({ index, nodeClass, vacancy }) =>
          index > SnapshotIndex &&
          mayFit(evaluation, nodeClass) &&
          vacancy.mayTake(Namespace, JobID, need),
      );
      if (offer === undefined) continue;
      // So that the batch is not larger than the room is.
      offer.vacancy.promise(need);
      batch.push(waiting);
      if (batch.length === limits.evaluation.releaseBatchMax) break;
    }
    return batch;
  }

  #drop(job: string): void {
    const waiting = this.#byJob.get(job);
    if (waiting === undefined) return;
    this.#byJob.delete(job);
    this.#order.splice(this.#positionOf(waiting), 1);
  }

  /** Where it is in the order, or belongs. */
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

const mayFit = (evaluation: Evaluation, nodeClass: string): boolean =>
  evaluation.EscapedComputedClass || evaluation.ClassEligibility?.[nodeClass] !== false;

const seenIndex = ({ CreateIndex, SnapshotIndex }: Evaluation): number =>
  Math.max(CreateIndex, SnapshotIndex);

const jobOf = ({ Namespace, JobID }: Pick<Evaluation, 'Namespace' | 'JobID'>): string =>
  `${Namespace}\0${JobID}`;

import type { Evaluation } from '../../model/evaluation/evaluation.ts';

/**
 * Evaluations that wait for room. Each is let go as soon as something changes that could help it.
 * Source: facts/scheduler.md §5.1 "Blocked", §6.8.
 *
 * Invariants
 *  K1. At most one evaluation of a job waits; a newer one takes the place of an older one.
 *  K2. Room that came between the snapshot an evaluation saw and its arrival here lets it go at
 *      once: nothing is missed.
 *  K3. Room on a class of nodes that the evaluation is known not to fit does not wake it.
 */
export class BlockedEvaluations {
  readonly #byJob = new Map<string, Evaluation>();
  /** Index of the last change that made room, by class of node. */
  readonly #roomIndex = new Map<string, number>();
  readonly #release: (evaluation: Evaluation) => void;
  readonly #supersede: (evaluation: Evaluation) => void;

  constructor(options: {
    /** May run again. */
    readonly release: (evaluation: Evaluation) => void;
    /** Another evaluation of its job waits in its place. */
    readonly supersede: (evaluation: Evaluation) => void;
  }) {
    this.#release = options.release;
    this.#supersede = options.supersede;
  }

  get size(): number {
    return this.#byJob.size;
  }

  add(evaluation: Evaluation): void {
    const job = jobOf(evaluation);
    const waiting = this.#byJob.get(job);
    if (waiting !== undefined && waiting.ID !== evaluation.ID) {
      const older = seenIndex(waiting) <= seenIndex(evaluation) ? waiting : evaluation;
      this.#supersede(older);
      if (older === evaluation) return;
    }
    this.#byJob.set(job, evaluation);
    for (const [nodeClass, index] of this.#roomIndex) {
      if (index > evaluation.SnapshotIndex && mayFit(evaluation, nodeClass)) {
        this.#letGo(evaluation);
        return;
      }
    }
  }

  /** Something on a node of this class was freed, added or made eligible. */
  madeRoom(nodeClass: string, index: number): void {
    this.#roomIndex.set(nodeClass, index);
    for (const evaluation of [...this.#byJob.values()]) {
      if (mayFit(evaluation, nodeClass)) this.#letGo(evaluation);
    }
  }

  /** It is over, or its job has gone. */
  remove(evaluation: Pick<Evaluation, 'ID' | 'Namespace' | 'JobID'>): void {
    const job = jobOf(evaluation);
    if (this.#byJob.get(job)?.ID === evaluation.ID) this.#byJob.delete(job);
  }

  clear(): void {
    this.#byJob.clear();
    this.#roomIndex.clear();
  }

  #letGo(evaluation: Evaluation): void {
    this.remove(evaluation);
    this.#release(evaluation);
  }
}

const mayFit = (evaluation: Evaluation, nodeClass: string): boolean =>
  evaluation.EscapedComputedClass || evaluation.ClassEligibility?.[nodeClass] !== false;

const seenIndex = ({ CreateIndex, SnapshotIndex }: Evaluation): number =>
  Math.max(CreateIndex, SnapshotIndex);

const jobOf = ({ Namespace, JobID }: Pick<Evaluation, 'Namespace' | 'JobID'>): string =>
  `${Namespace}\0${JobID}`;

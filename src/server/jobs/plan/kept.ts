import type { Clock } from '../../../base/ports.ts';
import type { Job } from '../../../model/job/job.ts';
import { limits } from '../../../model/limits.ts';
import type { Outline } from '../../../model/plan/outline.ts';

/** A plan that can still be carried out. */
export interface KeptPlan {
  readonly id: string;
  /** As it was submitted, canonical. */
  readonly job: Job;
  /** Of the job that was stored then; 0 when it is new. */
  readonly jobModifyIndex: number;
  readonly outline: Outline;
  /** What was drawn while it was made, so that what is carried out has the ids that were shown. */
  readonly ids: readonly string[];
  /** About how much memory it takes. */
  readonly bytes: number;
}

interface Entry {
  readonly plan: KeptPlan;
  readonly untilMs: number;
}

/**
 * The newest plans, for a while. They are this server's alone and gone after a restart: whoever wants
 * to carry out one that is gone makes another.
 *
 * Invariants
 *  K1. A plan that is being carried out is no longer here, so that nobody carries it out twice.
 *  K2. There are no more than `keptMax`, with `keptBytesMax` together; the oldest go first.
 */
export class KeptPlans {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  keep(plan: KeptPlan): void {
    this.#add({ plan, untilMs: this.#clock.monotonicMs() + limits.plan.keptMs });
  }

  /** Takes the plan out; `undefined` when there is none of that id and job. */
  take(id: string, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): Entry | undefined {
    this.#dropOld();
    const entry = this.#entries.get(id);
    if (entry?.plan.job.Namespace !== Namespace || entry.plan.job.ID !== ID) return undefined;
    this.#delete(entry);
    return entry;
  }

  /** It was not carried out after all. */
  putBack(entry: Entry): void {
    this.#add(entry);
  }

  #add(entry: Entry): void {
    this.#entries.set(entry.plan.id, entry);
    this.#bytes += entry.plan.bytes;
    this.#dropOld();
  }

  #delete({ plan }: Entry): void {
    this.#entries.delete(plan.id);
    this.#bytes -= plan.bytes;
  }

  #dropOld(): void {
    const nowMs = this.#clock.monotonicMs();
    const { keptMax, keptBytesMax } = limits.plan;
    for (const entry of [...this.#entries.values()]) {
      const isTooMuch = this.#entries.size > keptMax || this.#bytes > keptBytesMax;
      if (isTooMuch || entry.untilMs <= nowMs) this.#delete(entry);
    }
  }
}

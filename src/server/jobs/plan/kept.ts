import type { Clock } from '../../../base/ports.ts';
import type { Job } from '../../../model/job/job.ts';
import { limits } from '../../../model/limits.ts';
import type { Outline } from '../../../model/plan/outline.ts';

/** A plan that can still be carried out. */
export interface KeptPlan {
  readonly id: string;
  /** As submitted, in canonical form. */
  readonly job: Job;
  /** `JobModifyIndex` of the job that was stored then; 0: it was new. */
  readonly jobModifyIndex: number;
  readonly outline: Outline;
  /** The ids drawn for the plan: carrying it out uses the ids that were shown. */
  readonly ids: readonly string[];
  /** An estimate of the memory that it takes. */
  readonly bytes: number;
}

interface Entry {
  readonly plan: KeptPlan;
  readonly untilMs: number;
}

/**
 * The newest plans, for a while. Only this server knows them, and a restart forgets them: then the
 * caller makes another plan.
 *
 * Invariants
 *  K1. A plan that is being carried out is not in here, so nobody carries it out twice.
 *  K2. There are at most `keptMax` plans with `keptBytesMax` together; the oldest are dropped first.
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
    this.#addEntry({ plan, untilMs: this.#clock.monotonicMs() + limits.plan.keptMs });
  }

  /** Takes the plan out; `undefined`: there is none with this id for this job. */
  take(id: string, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): Entry | undefined {
    this.#dropOld();
    const entry = this.#entries.get(id);
    if (entry?.plan.job.Namespace !== Namespace || entry.plan.job.ID !== ID) return undefined;
    this.#delete(entry);
    return entry;
  }

  /** Puts back a plan that was not carried out. */
  putBack(entry: Entry): void {
    this.#addEntry(entry);
  }

  #addEntry(entry: Entry): void {
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

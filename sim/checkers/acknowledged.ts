import { inNamespace, jobs } from '../../src/state/tables.ts';
import type { Checker, Fault, Scene } from './checker.ts';

/** What the servers told writers, kept by the writers. */
export class Ledger {
  readonly #jobs = new Map<string, { index: number; isGone: boolean; isUncertain: boolean }>();

  /** A write is under way, and may happen without an answer. */
  begun(job: string): void {
    this.#of(job).isUncertain = true;
  }

  registered(job: string, index: number): void {
    Object.assign(this.#of(job), { index, isGone: false });
  }

  purged(job: string): void {
    Object.assign(this.#of(job), { isGone: true });
  }

  /** Nothing is under way any more whose outcome nobody knows. */
  settled(job: string): void {
    this.#of(job).isUncertain = false;
  }

  entries() {
    return this.#jobs.entries();
  }

  #of(job: string) {
    let entry = this.#jobs.get(job);
    if (entry === undefined) {
      entry = { index: 0, isGone: false, isUncertain: false };
      this.#jobs.set(job, entry);
    }
    return entry;
  }
}

/** Every write that was answered is there, whatever crashed since. */
export const noAcknowledgedWriteLost = (ledger: Ledger): Checker => {
  const check = ({ view }: Scene, fault: Fault) => {
    for (const [name, { index, isGone, isUncertain }] of ledger.entries()) {
      const job = view.table(jobs).get(...inNamespace('default', name));
      if (isUncertain) continue;
      if (isGone && job !== undefined) fault(`${name} was purged and is there`);
      if (!isGone && index > 0 && (job?.JobModifyIndex ?? 0) < index) {
        fault(`${name} was registered at ${index} and is at ${job?.JobModifyIndex ?? 'nothing'}`);
      }
    }
  };
  return { guarantee: 'no acknowledged write is lost', restarted: check, rested: check };
};

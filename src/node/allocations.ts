import type { AllocationReport } from '../model/allocation/allocation.ts';
import { isClientTerminal } from '../model/allocation/allocation-rules.ts';
import { limits } from '../model/limits.ts';
import {
  AllocationRunner,
  type AllocationSurroundings,
} from './allocation-runner/allocation-runner.ts';
import { readSavedAllocations } from './allocation-runner/saved-allocation.ts';
import { compareAssignments } from './assignments.ts';
import type { Assignment } from './server-api.ts';

/** All allocations of a node: those that run, and the newest of those that are over. */
export class Allocations {
  readonly #surroundings: AllocationSurroundings;
  readonly #runners = new Map<string, AllocationRunner>();
  readonly #onRemoved: (id: string) => void;

  constructor(surroundings: AllocationSurroundings, onRemoved: (id: string) => void) {
    this.#surroundings = surroundings;
    this.#onRemoved = onRemoved;
  }

  get(id: string): AllocationRunner | undefined {
    return this.#runners.get(id);
  }

  get all(): readonly AllocationRunner[] {
    return [...this.#runners.values()];
  }

  /** Takes up what an earlier agent left, and ends the processes that no allocation knows. */
  async restore(): Promise<void> {
    const { dataDirectory, drivers, onNotice } = this.#surroundings;
    const { saved, damaged } = await readSavedAllocations(dataDirectory);
    for (const name of damaged) onNotice(`the saved allocation ${name} is damaged and left out`);
    for (const entry of saved) {
      const { allocation, job } = entry;
      const runner = new AllocationRunner(this.#surroundings, allocation, job, entry);
      this.#runners.set(runner.id, runner);
    }
    const claimed = new Set(this.all.flatMap((runner) => runner.runIds));
    await Promise.all(this.all.map((runner) => runner.restore()));
    const ended = [...drivers.values()].map((driver) => driver.endUnclaimed(claimed));
    void Promise.all(ended).catch((error: Error) => onNotice(error.message));
  }

  /** What must still reach the servers. */
  get undelivered(): readonly AllocationReport[] {
    return this.all.filter((runner) => !runner.isDelivered).map((runner) => runner.report);
  }

  /** Begins, updates and stops. Waits for none of it. */
  apply(assignments: readonly Assignment[]): void {
    const { begin, update, stop } = compareAssignments(this.#runners, assignments);
    for (const { Allocation, Job } of update)
      this.#runners.get(Allocation.ID)?.update(Allocation, Job);
    for (const id of stop) void this.#runners.get(id)?.stop();
    for (const { Allocation, Job } of begin) {
      const runner = new AllocationRunner(this.#surroundings, Allocation, Job);
      this.#runners.set(runner.id, runner);
      if (Allocation.DesiredStatus === 'run') void runner.start();
      else void runner.stop();
      this.#surroundings.changed(runner);
    }
    void this.#collect();
  }

  noteDelivered(reports: readonly AllocationReport[]): void {
    for (const report of reports) {
      const runner = this.#runners.get(report.ID);
      if (runner?.isDone && isClientTerminal(report)) void runner.noteDelivered();
    }
  }

  /** Keeps so many allocations that are over, for their logs. */
  async #collect(): Promise<void> {
    const over = this.all.filter((runner) => runner.isDone && runner.isDelivered);
    const surplus = over.slice(0, Math.max(0, over.length - limits.node.terminalAllocationsKept));
    for (const runner of surplus) {
      this.#runners.delete(runner.id);
      this.#onRemoved(runner.id);
      await runner.remove().catch((error: Error) => this.#surroundings.onNotice(error.message));
    }
  }

  async leave(): Promise<void> {
    await Promise.all(this.all.map((runner) => runner.leave()));
  }

  async suspend(): Promise<void> {
    await Promise.all(this.all.map((runner) => runner.suspend()));
  }
}

import type { Timer } from '../base/ports.ts';
import type { Allocation, AllocationReport } from '../model/allocation/allocation.ts';
import { isServerTerminal } from '../model/allocation/allocation-rules.ts';
import { pendingTask } from '../model/allocation/task-event.ts';
import type { TaskState } from '../model/allocation/task-state.ts';
import type { Job } from '../model/job/job.ts';
import { limits } from '../model/limits.ts';
import { AllocationRunner } from './allocation-runner/allocation-runner.ts';
import {
  readSavedAllocations,
  type SavedAllocation,
} from './allocation-runner/saved-allocation.ts';
import type { AllocationSurroundings } from './allocation-runner/surroundings.ts';
import { compareAssignments } from './assignments.ts';
import { allDefences } from './defences.ts';
import { unfitPlace } from './directories.ts';
import { agentLimits } from './limits.ts';
import type { Assignment } from './server-api.ts';
import { sharedJobs } from './shared-jobs.ts';
import { setupFailure } from './task-runner/events.ts';

/**
 * All allocations of a node: the running ones, and the newest of those that have ended.
 *
 * Invariants
 *  B1. A fault of one allocation keeps no other from running or ending.
 *  B2. An allocation starts no task while a task of its predecessor on this node, or of an
 *      allocation that made room for it, is not dead. It also waits for the end of evicted allocations,
 *      and of allocations that the servers no longer name: they may have declared those lost while this
 *      node was away, and given their resources to others. After a restore of the servers' state,
 *      allocations that the servers do not name go on for a while, beside new allocations.
 *  B3. The files of an allocation stay until its successor on this node has taken its data.
 */
export class Allocations {
  readonly #surroundings: AllocationSurroundings;
  readonly #runners = new Map<string, AllocationRunner>();
  /** Allocations that the servers no longer name, until they have ended. */
  readonly #abandoned = new Set<AllocationRunner>();
  readonly #onRemoved: (id: string) => void;
  /** Saved allocations that could not be used, while their processes are ended. */
  readonly #leftovers = new Set<string>();
  #cleared: Promise<unknown> = Promise.resolve();
  /** Whether allocations go on that the servers do not name, as they restored a snapshot. */
  #keepsUnnamed = false;
  /** Allocations that go on for that reason. */
  #unnamed: readonly string[] = [];
  /** The wait before allocations that are over are removed. */
  #collection: Timer | undefined;
  #isLeaving = false;

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
    for (const id of damaged) this.#leaveOut(id);
    const share = sharedJobs();
    for (const entry of saved) this.#takeUp({ ...entry, job: share(entry.job) });
    for (const runner of this.all) this.#holdBehindOthers(runner);
    const claimed = new Set(this.all.flatMap((runner) => runner.runIds));
    // Before tasks restart, as they claim their new runs too late.
    const ended = [...drivers.values()].map((driver) => driver.endUnclaimed(claimed));
    this.#cleared = Promise.all(ended).catch((error: Error) => onNotice(error.message));
    await Promise.all(this.all.map((runner) => runner.restore()));
    void this.#cleared.then(() => this.#surroundings.users?.sweep());
  }

  #takeUp(saved: SavedAllocation): void {
    const { allocation, job } = saved;
    try {
      const runner = new AllocationRunner(this.#surroundings, allocation, job, saved);
      // Damage deeper in the file shows here, before anything relies on it.
      void [runner.report, runner.runIds];
      this.#runners.set(runner.id, runner);
    } catch {
      this.#leaveOut(allocation.ID);
    }
  }

  #leaveOut(id: string): void {
    this.#leftovers.add(id);
    const sentence = `the saved allocation ${id} is damaged: it is left out and its processes are ended`;
    this.#surroundings.onNotice(sentence);
  }

  /** B2. */
  #abandon(runner: AllocationRunner): Promise<unknown> {
    this.#abandoned.add(runner);
    void runner.whenDone.then(() => this.#abandoned.delete(runner));
    return runner.stop();
  }

  /** B2. Source: docs/behaviour/client.md#setup. */
  #holdBehindOthers(runner: AllocationRunner): void {
    const { PreviousAllocation, PreemptedAllocations } = runner.allocation;
    const awaited = new Set([PreviousAllocation, ...(PreemptedAllocations ?? [])]);
    for (const other of this.#runners.values()) {
      const isAwaited = awaited.has(other.id) || other.allocation.DesiredStatus === 'evict';
      if (isAwaited && other !== runner && !other.isDone) runner.hold(other.whenDone);
    }
  }

  /** Reports that have not reached the servers. */
  get undelivered(): readonly AllocationReport[] {
    return this.all.filter((runner) => !runner.isDelivered).map((runner) => runner.report);
  }

  /** Begins, updates and stops allocations, without waiting for any of it. */
  apply(assignments: readonly Assignment[]): void {
    const { begin, update, stop } = compareAssignments(this.#runners, assignments);
    const share = sharedJobs(this.all.map(({ job }) => job));
    for (const { Allocation, Job } of update) {
      void this.#isolate(Allocation.ID, () =>
        this.#runners.get(Allocation.ID)?.update(Allocation, jobOf(Allocation, Job && share(Job))),
      );
    }
    if (this.#keepsUnnamed) this.#unnamed = stop;
    else this.#stopAll(stop);
    const begun = begin.flatMap(
      ({ Allocation, Job }) =>
        this.#makeRunner(Allocation, jobOf(Allocation, Job && share(Job))) ?? [],
    );
    const starting: AllocationRunner[] = [];
    for (const runner of begun) {
      void this.#isolate(runner.id, () => {
        this.#holdBehindOthers(runner);
        for (const one of this.#abandoned) runner.hold(one.whenDone);
        // An earlier run of the same name may still be ending.
        if (this.#leftovers.delete(runner.id)) runner.hold(this.#cleared);
        this.#surroundings.changed(runner.report);
        if (runner.allocation.DesiredStatus !== 'run') return runner.stop();
        starting.push(runner);
        return undefined;
      });
    }
    void this.#startInTurn(starting);
    this.#collectSoon(begun.length > 0);
  }

  /** A few at a time, so that the first tasks run while directories of the last allocations are still being made. */
  async #startInTurn(starting: readonly AllocationRunner[]): Promise<void> {
    const { startedTogether } = agentLimits;
    for (let at = 0; at < starting.length; at += startedTogether) {
      const some = starting.slice(at, at + startedTogether).filter((one) => this.#mayStart(one));
      await Promise.all(some.map((runner) => this.#isolate(runner.id, () => runner.start())));
    }
  }

  /** It may have been stopped, and even removed, before its turn. */
  #mayStart(runner: AllocationRunner): boolean {
    return !this.#isLeaving && !runner.isDone && this.#runners.get(runner.id) === runner;
  }

  /** From now on allocations go on that the servers do not name. */
  keepUnnamed(): void {
    this.#keepsUnnamed = true;
  }

  /** Stops the allocations that the servers do not name, now and from now on. */
  endUnnamed(): void {
    this.#keepsUnnamed = false;
    const unnamed = this.#unnamed.filter((id) => this.#runners.get(id)?.isDone === false);
    this.#unnamed = [];
    this.#stopAll(unnamed);
  }

  #stopAll(ids: readonly string[]): void {
    for (const id of ids) void this.#isolate(id, () => this.#abandon(this.#runners.get(id)!));
  }

  /** B1. */
  #isolate(id: string, act: () => unknown): Promise<unknown> {
    return (async () => act())().catch((error: Error) =>
      this.#surroundings.onNotice(`allocation ${id}: ${error.message}`),
    );
  }

  /** The runner of a new allocation. An allocation that cannot run is reported as failed. */
  #makeRunner(allocation: Allocation, job: Job | undefined): AllocationRunner | undefined {
    if (job === undefined) {
      this.#refuseAllocation(allocation, `The job "${allocation.JobID}" was purged`);
      return undefined;
    }
    try {
      const { defences = allDefences } = this.#surroundings;
      const unfit = defences.fitNames ? unfitName(allocation, job) : undefined;
      if (unfit !== undefined) {
        this.#refuseAllocation(allocation, unfit, job);
        return undefined;
      }
      const runner = new AllocationRunner(this.#surroundings, allocation, job);
      this.#runners.set(runner.id, runner);
      return runner;
    } catch (error) {
      this.#refuseAllocation(allocation, `It cannot be run: ${(error as Error).message}`);
      return undefined;
    }
  }

  #refuseAllocation(allocation: Allocation, reason: string, job?: Job): void {
    const tasks = isServerTerminal(allocation) ? [] : tasksOf(allocation, job);
    // The same instant each time: a repeated report is then no change.
    const Events = [setupFailure(reason)(allocation.CreateTime)];
    const refused: TaskState = { ...pendingTask, State: 'dead', Failed: true, Events };
    this.#surroundings.changed({
      ID: allocation.ID,
      ClientStatus: isServerTerminal(allocation) ? 'complete' : 'failed',
      ClientDescription: reason,
      TaskStates: Object.fromEntries(tasks.map(({ Name }) => [Name, refused])),
      DeploymentStatus: null,
      DeploymentID: allocation.DeploymentID,
      NetworkStatus: null,
    });
  }

  noteDelivered(reports: readonly AllocationReport[]): void {
    for (const report of reports) {
      const runner = this.#runners.get(report.ID);
      if (runner?.isDone && isLast(report)) runner.noteDelivered();
    }
  }

  /** Removes ended allocations at rest. While others begin, only those above `overMax` are removed. */
  #collectSoon(hasBegun: boolean): void {
    const { collectRestMs, overMax } = agentLimits;
    const kept = limits.node.terminalAllocationsKept;
    const { length } = this.#over;
    if (length <= kept) return;
    if (length > overMax) void this.#collectOver(overMax);
    if (hasBegun) {
      this.#collection?.clear();
      this.#collection = undefined;
    }
    this.#collection ??= this.#surroundings.world.timers.after(collectRestMs, () => {
      this.#collection = undefined;
      void this.#collectOver(kept, () => this.#collection !== undefined);
    });
  }

  /** Keeps some of the allocations that are over, for their logs. Ends early if it is to be done later. */
  async #collectOver(kept: number, isLater?: () => boolean): Promise<void> {
    const over = this.#over;
    await this.#removeAll(over.slice(0, Math.max(0, over.length - kept)), isLater);
  }

  /** Allocations that are over and whose last report the servers have. */
  get #over(): readonly AllocationRunner[] {
    return this.all.filter((runner) => runner.isDone && runner.isDelivered);
  }

  async remove(id: string): Promise<void> {
    const runner = this.#runners.get(id);
    if (runner?.isDone) await this.#removeAll([runner]);
  }

  /** Removes all allocations that are over, once the servers know it. */
  async removeOver(): Promise<void> {
    await this.#removeAll(this.#over);
  }

  /** B3. */
  async #removeAll(
    runners: readonly AllocationRunner[],
    isEnough = (): boolean => false,
  ): Promise<void> {
    const awaited = new Set(
      this.all
        .filter(({ isPreparing }) => isPreparing)
        .map(({ allocation }) => allocation.PreviousAllocation),
    );
    for (const runner of runners.filter(({ id }) => !awaited.has(id))) {
      if (isEnough()) break;
      if (this.#runners.get(runner.id) !== runner) continue;
      this.#runners.delete(runner.id);
      this.#onRemoved(runner.id);
      await runner.remove().catch((error: Error) => this.#surroundings.onNotice(error.message));
    }
    if (runners.length > 0) await this.#surroundings.users?.sweep();
  }

  async leave(): Promise<void> {
    this.#beginNoMore();
    await this.#forEachRunner((runner) => runner.leave());
  }

  async suspend(): Promise<void> {
    this.#beginNoMore();
    await this.#forEachRunner((runner) => runner.suspend());
  }

  /** Begins and collects nothing any more. */
  #beginNoMore(): void {
    this.#isLeaving = true;
    this.#collection?.clear();
  }

  /** B1. */
  async #forEachRunner(act: (runner: AllocationRunner) => Promise<void>): Promise<void> {
    const { onNotice } = this.#surroundings;
    await Promise.all(
      this.all.map((runner) =>
        act(runner).catch((error: Error) => onNotice(`allocation ${runner.id}: ${error.message}`)),
      ),
    );
  }
}

/** An earlier report may have the final status already: the first failed task decides it. */
const isLast = ({ TaskStates }: AllocationReport): boolean =>
  Object.values(TaskStates).every(({ State }) => State === 'dead');

const tasksOf = ({ TaskGroup }: Allocation, job: Job | undefined) =>
  job?.TaskGroups.find(({ Name }) => Name === TaskGroup)?.Tasks ?? [];

/** Why no directories are made for the allocation; `undefined`: its names are fit. */
function unfitName(allocation: Allocation, job: Job): string | undefined {
  const names = tasksOf(allocation, job).map((task) => unfitPlace('task', task.Name));
  return [unfitPlace('allocation', allocation.ID), ...names].find((one) => one !== undefined);
}

/** Once a job is purged, its id may name another registration. */
const jobOf = ({ JobCreateIndex }: Allocation, job: Job | null): Job | undefined =>
  job?.CreateIndex === JobCreateIndex ? job : undefined;

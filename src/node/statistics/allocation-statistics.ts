import { instantFromMs } from '../../base/instant.ts';
import { delay, type World } from '../../base/ports.ts';
import type { AllocationUsage, TaskUsage } from '../../model/allocation/resource-usage.ts';
import { limits } from '../../model/limits.ts';
import type { DriverUsage } from '../drivers/driver.ts';
import { type ProcessUsage, processUsage } from './process-usage.ts';
import { isFresh, sumOf, type TaskSample, taskUsage } from './rates.ts';

export interface UsageSource {
  readonly id: string;
  taskNames(): readonly string[];
  /** `undefined`: the task does not run, or its driver cannot tell. */
  usage(task: string): Promise<DriverUsage | undefined>;
}

/**
 * The resources that allocations use. They are read only when asked for, so idle tasks cost
 * nothing. Rates cover the time since the last question if that was a moment ago, else a short time
 * for which the answer waits.
 */
export class AllocationStatistics {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #coreMhz: number;
  readonly #samples = new Map<string, TaskSample>();

  constructor(world: Pick<World, 'clock' | 'timers'>, coreMhz: number) {
    this.#world = world;
    this.#coreMhz = coreMhz;
  }

  async of(source: UsageSource): Promise<AllocationUsage> {
    const { clock, timers } = this.#world;
    this.#forgetOld();
    let before = this.#knownSamples(source);
    let after = await this.#readSamples(source);
    const isKnown = [...after.keys()].every((task) =>
      isFresh(before.get(task), clock.monotonicMs()),
    );
    if (!isKnown) {
      before = after;
      await delay(timers, limits.statistics.sampleMs);
      after = await this.#readSamples(source);
    }
    const timestamp = instantFromMs(clock.nowMs());
    const tasks: Record<string, TaskUsage> = {};
    for (const [task, sample] of after) {
      this.#samples.set(`${source.id}/${task}`, sample);
      const earlier = before.get(task) ?? sample;
      tasks[task] = taskUsage(earlier, sample, this.#coreMhz, timestamp);
    }
    return {
      ResourceUsage: sumOf(Object.values(tasks).map(({ ResourceUsage }) => ResourceUsage)),
      Tasks: tasks,
      Timestamp: timestamp,
    };
  }

  #knownSamples(source: UsageSource): ReadonlyMap<string, TaskSample> {
    const samples = source.taskNames().flatMap((task) => {
      const sample = this.#samples.get(`${source.id}/${task}`);
      return sample === undefined ? [] : [[task, sample] as const];
    });
    return new Map(samples);
  }

  async #readSamples(source: UsageSource): Promise<ReadonlyMap<string, TaskSample>> {
    const found = new Map<string, TaskSample>();
    await Promise.all(
      source.taskNames().map(async (task) => {
        const usage = await source.usage(task);
        if (usage === undefined) return;
        const processes = await readProcesses(usage.pids);
        found.set(task, { atMs: this.#world.clock.monotonicMs(), usage, processes });
      }),
    );
    return found;
  }

  #forgetOld(): void {
    const nowMs = this.#world.clock.monotonicMs();
    for (const [key, { atMs }] of this.#samples) {
      if (nowMs - atMs > limits.statistics.sampleAgeMaxMs) this.#samples.delete(key);
    }
  }
}

async function readProcesses(pids: readonly number[]): Promise<ReadonlyMap<number, ProcessUsage>> {
  const shown = pids.slice(0, limits.statistics.processesShownMax);
  const usages = await Promise.all(shown.map((pid) => processUsage(pid)));
  return new Map(
    shown.flatMap((pid, at) => {
      const usage = usages[at];
      return usage === undefined ? [] : [[pid, usage] as const];
    }),
  );
}

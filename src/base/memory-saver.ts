import { collectorLimits } from './limits.ts';
import type { Timers } from './ports.ts';

/** The utilization from which the process counts as busy, and the utilization below which it is idle. */
const [busyFrom, idleBelow] = [0.3, 0.05];
/** Number of measurements in a row with little work after which the process counts as resting. */
const restAfter = 3;

export interface MemorySaver {
  readonly timers: Timers;
  /** The share of the time since the last call in which the thread was at work, from 0 to 1. */
  utilization(): number;
  /** Tells the collector to keep the heap small, which makes it slower, or to stop doing so. */
  save(isOn: boolean): void;
  /** Collects all garbage. Nothing else is done meanwhile. */
  collect(): void;
}

/**
 * Keeps the heap small while the process has little to do. Garbage that work has left is collected once the process
 * is idle: without new objects the collector itself would not begin.
 */
export function saveMemoryAtRest({ timers, utilization, save, collect }: MemorySaver): void {
  const { workPollMs, idleLooks, looksBetween } = collectorLimits;
  let quietLooks = 0;
  let idle = 0;
  let sinceCollected: number = looksBetween;
  let hasWorked = true;
  const look = (): void => {
    const used = utilization();
    const wasSaving = quietLooks >= restAfter;
    quietLooks = used < busyFrom ? quietLooks + 1 : 0;
    const isSaving = quietLooks >= restAfter;
    if (isSaving !== wasSaving) save(isSaving);
    idle = used < idleBelow ? idle + 1 : 0;
    hasWorked ||= idle === 0;
    sinceCollected++;
    if (idle >= idleLooks && hasWorked && sinceCollected > looksBetween) {
      collect();
      sinceCollected = 0;
      hasWorked = false;
    }
    timers.after(workPollMs, look);
  };
  timers.after(workPollMs, look);
}

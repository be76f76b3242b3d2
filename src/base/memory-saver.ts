import { collectorLimits } from './limits.ts';
import type { Timers } from './ports.ts';

/** The utilization from which the process counts as busy. */
const busyFrom = 0.3;
/** Number of measurements in a row with little work after which the process counts as resting. */
const restAfter = 3;

export interface MemorySaver {
  readonly timers: Timers;
  /** The share of the time since the last call in which the thread was at work, from 0 to 1. */
  utilization(): number;
  /** Tells the collector to keep the heap small, which makes it slower, or to stop doing so. */
  save(isOn: boolean): void;
}

/** Keeps the heap small while the process has little to do. */
export function saveMemoryAtRest({ timers, utilization, save }: MemorySaver): void {
  let quietLooks = 0;
  const look = (): void => {
    const wasSaving = quietLooks >= restAfter;
    quietLooks = utilization() < busyFrom ? quietLooks + 1 : 0;
    const isSaving = quietLooks >= restAfter;
    if (isSaving !== wasSaving) save(isSaving);
    timers.after(collectorLimits.workPollMs, look);
  };
  timers.after(collectorLimits.workPollMs, look);
}

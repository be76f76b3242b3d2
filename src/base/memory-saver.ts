import { collectorLimits } from './limits.ts';
import type { Timers } from './ports.ts';

/** The share of the time between two looks from which the process counts as busy. */
const busyFrom = 0.3;
/** Looks in a row that find little work until the process counts as resting. */
const restAfter = 3;

export interface MemorySaver {
  readonly timers: Timers;
  /** How much of the time since it was last asked the thread was at work, from 0 to 1. */
  utilization(): number;
  /** Tells the collector to keep the heap small, which makes it slower, or no longer. */
  save(isOn: boolean): void;
}

/** A program that has little to do gives memory back, and takes it again as soon as there is work. */
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

import type { Timers } from './ports.ts';

/** How often it looks, and how much of the time since its last look makes it call that work. */
const everyMs = 1_000;
const busyFrom = 0.3;
/** Looks in a row at little work, before it is called rest. */
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
    timers.after(everyMs, look);
  };
  timers.after(everyMs, look);
}

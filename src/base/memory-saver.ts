import { collectorLimits } from './limits.ts';
import type { Timers } from './ports.ts';

/** The utilization from which the process counts as busy, and the utilization below which it is idle. */
const [busyFrom, idleBelow] = [0.3, 0.05];
/** Number of measurements in a row with little work after which the process counts as resting. */
const restAfter = 3;
/** Number of measurements in a row with much work after which work has begun. */
const beginAfter = 2;

export interface MemorySaver {
  readonly timers: Timers;
  /** The share of the time since the last call in which the thread was at work, from 0 to 1. */
  utilization(): number;
  /** Whether the heap is so small that collecting all of it costs little. */
  isSmall(): boolean;
  /** Tells the collector to keep the heap small, which makes it slower, or to stop doing so. */
  save(isOn: boolean): void;
  /** Collects all garbage of a small heap. Nothing else is done meanwhile. */
  collect(): void;
  /** Is called once, when the process has been busy for a while for the first time. */
  begin(): void;
}

/**
 * Keeps a small heap small while the process has little to do. Garbage that work has left is collected once the process
 * is idle: without new objects the collector itself would not begin. A large heap is left to the collector: to keep it small,
 * all of it would be marked again and again.
 */
export function saveMemoryAtRest({
  timers,
  utilization,
  isSmall,
  save,
  collect,
  begin,
}: MemorySaver): void {
  const { workPollMs, idleLooks, looksBetween } = collectorLimits;
  let quietLooks = 0;
  let idle = 0;
  let sinceCollected: number = looksBetween;
  let hasWorked = true;
  let isSaving = false;
  let busyLooks = 0;
  const look = (): void => {
    const used = utilization();
    quietLooks = used < busyFrom ? quietLooks + 1 : 0;
    if (busyLooks < beginAfter) {
      busyLooks = quietLooks === 0 ? busyLooks + 1 : 0;
      if (busyLooks === beginAfter) begin();
    }
    const saves = quietLooks >= restAfter && isSmall();
    if (isSaving !== saves) save(saves);
    isSaving = saves;
    idle = used < idleBelow ? idle + 1 : 0;
    hasWorked ||= idle === 0;
    sinceCollected++;
    if (idle >= idleLooks && hasWorked && sinceCollected > looksBetween && isSmall()) {
      collect();
      sinceCollected = 0;
      hasWorked = false;
    }
    timers.after(workPollMs, look);
  };
  timers.after(workPollMs, look);
}

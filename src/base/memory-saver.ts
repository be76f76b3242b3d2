import { collectorLimits } from './limits.ts';
import type { Timers } from './ports.ts';

/** The utilization from which the process counts as busy, and the utilization below which it is idle. */
const [busyFrom, idleBelow] = [0.3, 0.05];
/** Number of measurements in a row with little work after which the process counts as resting. */
const restAfter = 3;
/** Number of measurements in a row with much work after which work has begun. */
const beginAfter = 2;

/**
 * How much garbage the heap may hold before the collector marks it. `least`: little. `modest`: as much as is in use. V8
 * wants the whole heap marked within half a second, and where its own thread is slower than that, marking takes the main
 * thread's time: a heap of three parts of garbage to one in use would have to be marked faster than one thread can.
 * `free`: as V8 decides, up to three times as much as is in use: of a large heap, the main thread marks most anyway.
 */
export type Growth = 'least' | 'modest' | 'free';

export interface MemorySaver {
  readonly timers: Timers;
  /** The share of the time since the last call in which the thread was at work, from 0 to 1. */
  utilization(): number;
  /** Bytes of the heap in use, garbage included. */
  heapBytes(): number;
  /** Tells the collector how the heap may grow from now on. At first it is `free`. */
  grow(growth: Growth): void;
  /** Collects all garbage of a small heap. Nothing else is done meanwhile. */
  collect(): void;
  /** Is called once, when the process has been busy for a while for the first time. */
  begin(): void;
}

/**
 * Keeps a small heap small while the process has little to do. Garbage that work has left is collected once the process
 * is idle: without new objects the collector itself would not begin. A heap that is not small is not kept small: all of it
 * would be marked again and again.
 */
export function saveMemoryAtRest({
  timers,
  utilization,
  heapBytes,
  grow,
  collect,
  begin,
}: MemorySaver): void {
  const { workPollMs, idleLooks, looksBetween } = collectorLimits;
  const { smallHeapBytesMax, modestHeapBytesMax } = collectorLimits;
  let quietLooks = 0;
  let idle = 0;
  let sinceCollected: number = looksBetween;
  let hasWorked = true;
  let growth: Growth = 'free';
  let busyLooks = 0;
  const look = (): void => {
    const used = utilization();
    quietLooks = used < busyFrom ? quietLooks + 1 : 0;
    if (busyLooks < beginAfter) {
      busyLooks = quietLooks === 0 ? busyLooks + 1 : 0;
      if (busyLooks === beginAfter) begin();
    }
    const bytes = heapBytes();
    const isSmall = bytes <= smallHeapBytesMax;
    const before = growth;
    if (quietLooks >= restAfter && isSmall) growth = 'least';
    else growth = bytes <= modestHeapBytesMax ? 'modest' : 'free';
    if (growth !== before) grow(growth);
    idle = used < idleBelow ? idle + 1 : 0;
    hasWorked ||= idle === 0;
    sinceCollected++;
    if (idle >= idleLooks && hasWorked && sinceCollected > looksBetween && isSmall) {
      collect();
      sinceCollected = 0;
      hasWorked = false;
    }
    timers.after(workPollMs, look);
  };
  timers.after(workPollMs, look);
}

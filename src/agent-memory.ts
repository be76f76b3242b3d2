/** Keeps the heap of an agent's process small while it has little to do. */
import { setFlagsFromString } from 'node:v8';
import { collectorLimits } from './base/limits.ts';
import { saveMemoryAtRest } from './base/memory-saver.ts';
import type { Timers } from './base/ports.ts';
import { garbageCollector } from './base/received-bytes.ts';

export function saveProcessMemory(timers: Timers): void {
  saveMemoryAtRest({
    timers,
    utilization: loopUtilization(),
    save: collectAtRest,
    collect: collectGarbage,
  });
}

/**
 * Lets buffers outside of the heap begin a collection only as the heap itself does. By default the whole heap is marked
 * whenever some 64 MB of them are new, and gRPC makes a new buffer for all that is sent to etcd.
 */
export function collectBuffersWithHeap(): void {
  // The V8 of an older Node does not know the flag, and would print so.
  if (Number.parseInt(process.versions.node, 10) < 24) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** At rest, keeps the heap small, and lets this thread mark as well, since no request waits. */
function collectAtRest(isAtRest: boolean): void {
  for (const flag of ['memory-saver-mode', 'incremental-marking-task']) {
    setFlagsFromString(isAtRest ? `--${flag}` : `--no-${flag}`);
  }
}

/** Collects all garbage of a small heap, and gives its pages back. */
function collectGarbage(): void {
  if (process.memoryUsage().heapUsed > collectorLimits.idleHeapBytesMax) return;
  void garbageCollector()({ type: 'major', execution: 'async', flavor: 'last-resort' });
}

/** The utilization of this thread's event loop since the last call. */
function loopUtilization(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

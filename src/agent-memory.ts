/** Keeps the heap of an agent's process small while it has little to do. */
// As a whole: an old Node, which is refused in words, has no such function.
import * as modules from 'node:module';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { collectAll } from './base/collector.ts';
import { collectorLimits } from './base/limits.ts';
import { type Growth, saveMemoryAtRest } from './base/memory-saver.ts';
import type { Timers } from './base/ports.ts';

/**
 * To be called as the agent starts. The flags of V8 wait until it has started: code that was compiled before, Node's own and
 * the program's, is used only under the flags with which it was compiled.
 *
 * Flags hold for all threads, and may change while another thread collects garbage. So here are only flags that V8 reads for
 * a decision of the moment, and flags that are set once and never taken back (`base/collector.ts` has such a flag, too).
 */
export function saveProcessMemory(
  timers: Timers,
  { hasEtcd }: { readonly hasEtcd: boolean },
): void {
  timers.after(collectorLimits.startMs, () => {
    // Now, since what is kept at the end of the process would have other flags.
    modules.flushCompileCache();
    collectWhileMarking();
    if (hasEtcd) collectBuffersWithHeap();
    setOptimizing(false);
    let isStart = true;
    saveMemoryAtRest({
      timers,
      utilization: loopUtilization(),
      heapBytes: () => getHeapStatistics().used_heap_size,
      grow: letHeapGrow,
      collect: () => {
        void collectAll({ isStart });
        isStart = false;
      },
      begin: () => setOptimizing(true),
    });
  });
}

/**
 * Young objects are collected while old ones are marked, too. Otherwise they pile up until marking is over, tens of
 * megabytes when a large job is placed, and are then moved in one pause that everybody waits for. The flag is never taken
 * back: V8 ends the process if young objects were collected during a marking that ends without the flag.
 */
const collectWhileMarking = (): void => setFlagsFromString('--no-separate-gc-phases');

/**
 * Lets buffers outside of the heap begin a collection only as the heap itself does. By default the whole heap is marked
 * whenever some 64 MB of them are new, and gRPC makes a new buffer for all that is sent to etcd.
 */
function collectBuffersWithHeap(): void {
  // The V8 of an older Node does not know the flag, and would print so.
  if (Number.parseInt(process.versions.node, 10) < 24) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

function letHeapGrow(growth: Growth): void {
  setFlagsFromString(growth === 'least' ? '--memory-saver-mode' : '--no-memory-saver-mode');
  // In percent of what is in use; 0: as V8 decides.
  setFlagsFromString(`--heap-growing-percent=${growth === 'modest' ? 100 : 0}`);
}

/**
 * Whether functions are soon compiled by V8's best compiler, whose own code takes 5 MB once it has run. An agent that never
 * had much to do is as fast without.
 */
function setOptimizing(isOn: boolean): void {
  setFlagsFromString(isOn ? '--no-efficiency-mode' : '--efficiency-mode');
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

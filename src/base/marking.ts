import {
  constants,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks';
import { collectorLimits } from './limits.ts';

interface GarbageCollected extends PerformanceEntry {
  readonly detail: NodeGCPerformanceDetail;
}

/**
 * Whether V8 is marking the old objects that are in use, so that work that can wait should wait. V8 marks
 * on its own threads. While these are behind, it also takes up to 5 ms of the main thread for each 64 KB of
 * new objects, so work that makes many objects delays all other work. V8 reports the start of marking. A
 * collection of old objects ends it.
 */
export class Marking {
  #sinceMs: number | undefined;
  readonly #observer = new PerformanceObserver((list) => this.#noteCollections(list.getEntries()));

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  get isUnderWay(): boolean {
    // The observer itself hears of collections a turn later.
    this.#noteCollections(this.#observer.takeRecords());
    return (
      this.#sinceMs !== undefined &&
      performance.now() - this.#sinceMs < collectorLimits.markingMaxMs
    );
  }

  #noteCollections(entries: readonly PerformanceEntry[]): void {
    for (const { startTime, detail } of entries as readonly GarbageCollected[]) {
      if (detail.kind === constants.NODE_PERFORMANCE_GC_INCREMENTAL) this.#sinceMs = startTime;
      else if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) this.#sinceMs = undefined;
    }
  }
}

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
 * Whether V8 is marking the old objects that are in use, and work that can wait should. It marks on
 * threads of its own; but while these are behind it also takes up to 5 ms of whoever makes 64 KB of
 * objects, so that what makes many holds everybody up. V8 tells that it has begun. A collection of old
 * objects ends it.
 */
export class Marking {
  #sinceMs: number | undefined;
  readonly #observer = new PerformanceObserver((list) => this.#noteCollections(list.getEntries()));

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  get isUnderWay(): boolean {
    // The observer itself would be told a turn later.
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

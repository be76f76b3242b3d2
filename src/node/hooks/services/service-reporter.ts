import { delay, type Random, type Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import type { ServicesReport } from '../../../model/service-registration/service-registration.ts';
import { Backoff } from '../../backoff.ts';
import { statusOf } from '../../server-api.ts';

export interface ServiceReporterOptions {
  readonly timers: Timers;
  readonly random: Random;
  readonly send: (reports: readonly ServicesReport[], signal: AbortSignal) => Promise<void>;
  /** It will be tried again. */
  readonly onError: (error: unknown) => void;
  /** The servers never take this one. */
  readonly onRefused: (report: ServicesReport, error: unknown) => void;
}

/**
 * Brings what services each allocation has to the servers.
 *
 * Invariants
 *  S1. The newest set of an allocation is sent until a server took it or refused it for good.
 *  S2. One batch is under way at a time, so an older set never overtakes a newer one.
 *  S3. What changes within `limits.service.batchDelayMs` goes together: however many services there
 *      are and however often their checks change, batches are at least so far apart.
 *  S4. A set that is refused keeps no other from being told.
 */
export class ServiceReporter {
  readonly #options: ServiceReporterOptions;
  /** The newest of each allocation that may still have services. */
  readonly #newest = new Map<string, ServicesReport>();
  readonly #waiting = new Set<string>();
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #wake: () => void = () => {};
  #settled = Promise.withResolvers<void>();
  /** After a refusal, until it is known whose it was. */
  #oneByOne = false;

  constructor(options: ServiceReporterOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** How many allocations have something to tell. */
  get waiting(): number {
    return this.#waiting.size;
  }

  report(report: ServicesReport): void {
    this.#newest.set(report.AllocID, report);
    this.#waiting.add(report.AllocID);
    this.#wake();
  }

  /** The servers may know nothing any more: all is told again. */
  repeat(): void {
    for (const id of this.#newest.keys()) this.#waiting.add(id);
    this.#wake();
  }

  /** Resolves when the servers know what this allocation has, or after so long. */
  async told(allocId: string, atMostMs: number): Promise<void> {
    const late = new AbortController();
    const timer = this.#options.timers.after(atMostMs, () => late.abort());
    const isLate = new Promise<void>((resolve) => {
      late.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    while (this.#waiting.has(allocId) && !late.signal.aborted && !this.#stop.signal.aborted) {
      await Promise.race([this.#settled.promise, isLate]);
    }
    timer.clear();
  }

  /** Tries once to tell what waits, within `graceMs`, and ends. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#loop;
    this.#settled.resolve();
    if (this.#waiting.size === 0) return;
    const deadline = new AbortController();
    const timer = this.#options.timers.after(graceMs, () => deadline.abort());
    while (this.#waiting.size > 0 && !deadline.signal.aborted) {
      const isSent = await this.#send(deadline.signal).then(
        () => true,
        () => false,
      );
      if (!isSent) break;
    }
    timer.clear();
  }

  async #run(): Promise<void> {
    const { timers, random, onError } = this.#options;
    const { retryMinMs: minMs, retryMaxMs: maxMs, batchDelayMs } = limits.service;
    const backoff = new Backoff({ minMs, maxMs, timers, random });
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (this.#waiting.size === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      await delay(timers, batchDelayMs, signal);
      if (signal.aborted) return;
      try {
        await this.#send(signal);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        onError(error);
        await backoff.wait(signal);
      }
    }
  }

  async #send(signal: AbortSignal): Promise<void> {
    const batch = this.#batch();
    try {
      await this.#options.send(batch, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (batch.length > 1) {
        this.#oneByOne = true;
        return;
      }
      for (const report of batch) this.#options.onRefused(report, error);
    }
    for (const report of batch) this.#settle(report);
    if (this.#waiting.size === 0) this.#oneByOne = false;
    this.#settled.resolve();
    this.#settled = Promise.withResolvers();
  }

  /** Some of what waits, by number and size. */
  #batch(): ServicesReport[] {
    const { batchMax, batchBytes } = limits.service;
    const batch: ServicesReport[] = [];
    let bytes = 0;
    for (const id of this.#waiting) {
      const report = this.#newest.get(id)!;
      bytes += JSON.stringify(report).length;
      if (batch.length > 0 && (this.#oneByOne || bytes > batchBytes)) break;
      batch.push(report);
      if (batch.length === batchMax) break;
    }
    return batch;
  }

  #settle(report: ServicesReport): void {
    if (this.#newest.get(report.AllocID) !== report) return;
    this.#waiting.delete(report.AllocID);
    if (report.Services.length === 0) this.#newest.delete(report.AllocID);
  }
}

/** What another try does not mend. */
const isRefusal = (error: unknown): boolean => [400, 413].includes(statusOf(error));

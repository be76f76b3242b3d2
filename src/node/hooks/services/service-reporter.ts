import { delay, type Random, type Timer, type Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import type { ServicesReport } from '../../../model/service-registration/service-registration.ts';
import { Backoff } from '../../backoff.ts';
import { retryAfterMsOf, statusOf } from '../../server-api.ts';

export interface ServiceReporterOptions {
  readonly timers: Timers;
  readonly random: Random;
  readonly send: (reports: readonly ServicesReport[], signal: AbortSignal) => Promise<void>;
  /** Called when an attempt fails; it will be repeated. */
  readonly onError: (error: unknown) => void;
  /** Called when the servers refuse a report for good. */
  readonly onRefused: (report: ServicesReport, error: unknown) => void;
}

/**
 * Reports the services of each allocation to the servers.
 *
 * Invariants
 *  S1. The newest set of an allocation is sent until a server accepts it or refuses it for good.
 *  S2. One batch is under way at a time.
 *  S3. Changes within `limits.service.batchDelayMs` go together: batches are at least this far
 *      apart, however many services there are and however often checks change.
 *  S4. A refused set keeps no other from being reported.
 *  S5. Every set is sent again within `limits.service.repeatMs`, an empty set once. An attempt that was given up may
 *      arrive after a newer one: then the servers have the newest set again after that time.
 */
export class ServiceReporter {
  readonly #options: ServiceReporterOptions;
  /** The newest set of each allocation that may still have services. */
  readonly #newest = new Map<string, ServicesReport>();
  readonly #waiting = new Set<string>();
  /** Allocations whose empty set was sent. */
  readonly #ended = new Set<string>();
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #repeat: Timer | undefined;
  #wake: () => void = () => {};
  #settled = Promise.withResolvers<void>();
  /** After a refusal, until it is known which set was refused. */
  #oneByOne = false;

  constructor(options: ServiceReporterOptions) {
    this.#options = options;
    this.#loop = this.#run();
    this.#repeatLater();
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  report(report: ServicesReport): void {
    this.#ended.delete(report.AllocID);
    this.#newest.set(report.AllocID, report);
    this.#waiting.add(report.AllocID);
    this.#wake();
  }

  /** Reports everything again, as the servers may have lost it. */
  repeat(): void {
    for (const id of this.#newest.keys()) this.#waiting.add(id);
    this.#wake();
  }

  /** Resolves when the servers have the newest set of an allocation, or after `atMostMs`. */
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

  /** Tries once, within `graceMs`, to report the waiting sets, and ends. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    this.#repeat?.clear();
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

  /** S5. At a random time, so that the nodes of a fleet do not report together. */
  #repeatLater(): void {
    const { timers, random } = this.#options;
    const delayMs = limits.service.repeatMs * (1 - random.fraction() / 2);
    this.#repeat = timers.after(delayMs, () => {
      this.repeat();
      this.#repeatLater();
    });
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
        await backoff.wait(signal, retryAfterMsOf(error));
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
    for (const report of batch) this.#settleReport(report);
    if (this.#waiting.size === 0) this.#oneByOne = false;
    this.#settled.resolve();
    this.#settled = Promise.withResolvers();
  }

  /** Some of the waiting sets, bounded by number and size. */
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

  #settleReport(report: ServicesReport): void {
    if (this.#newest.get(report.AllocID) !== report) return;
    this.#waiting.delete(report.AllocID);
    if (report.Services.length > 0) return;
    if (this.#ended.delete(report.AllocID)) this.#newest.delete(report.AllocID);
    else this.#ended.add(report.AllocID);
  }
}

/** Errors that another try does not solve. */
const isRefusal = (error: unknown): boolean => [400, 413].includes(statusOf(error));

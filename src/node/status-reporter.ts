import type { Clock, Random, Timers } from '../base/ports.ts';
import type { AllocationReport } from '../model/allocation/allocation.ts';
import { limits } from '../model/limits.ts';
import { Backoff } from './backoff.ts';
import { reportLimits } from './limits.ts';
import { retryAfterMsOf } from './server-api.ts';

export interface StatusReporterOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly send: (reports: readonly AllocationReport[], signal: AbortSignal) => Promise<void>;
  /** Called when the servers have these reports. */
  readonly onDelivered: (reports: readonly AllocationReport[]) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Sends the newest report of each allocation to the servers.
 *
 * Invariants
 *  R1. A report is kept until a server has accepted it, or a newer report of its allocation
 *      replaces it.
 *  R2. One batch is under way at a time, so an older report never overtakes a newer one.
 *  R3. A changed status is sent at once, unless `reportLimits.burst` batches were just sent; mere events wait to
 *      share a batch.
 */
export class StatusReporter {
  readonly #options: StatusReporterOptions;
  readonly #waiting = new Map<string, AllocationReport>();
  readonly #toldStatus = new Map<string, string>();
  readonly #stop = new AbortController();
  #urgent = false;
  #wake: () => void = () => {};
  #tokens = reportLimits.burst;
  #tokensAtMs: number;
  readonly #loop: Promise<void>;

  constructor(options: StatusReporterOptions) {
    this.#options = options;
    this.#tokensAtMs = options.clock.monotonicMs();
    this.#loop = this.#run();
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  report(report: AllocationReport): void {
    this.#waiting.set(report.ID, report);
    const told = this.#toldStatus.get(report.ID) ?? 'pending';
    if (report.ClientStatus !== told) this.#urgent = true;
    this.#wake();
  }

  /** Tries once, within `graceMs`, to deliver the waiting reports, and ends. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#loop;
    if (this.#waiting.size === 0) return;
    const deadline = new AbortController();
    const timer = this.#options.timers.after(graceMs, () => deadline.abort());
    await this.#send(deadline.signal).catch(() => {});
    timer.clear();
  }

  async #run(): Promise<void> {
    const { timers, random, onError } = this.#options;
    const backoff = new Backoff({
      minMs: reportLimits.retryMinMs,
      maxMs: reportLimits.retryMaxMs,
      timers,
      random,
    });
    while (!this.#stop.signal.aborted) {
      if (this.#waiting.size === 0) {
        await this.#woken();
        continue;
      }
      await this.#gatherReports();
      if (this.#stop.signal.aborted) return;
      try {
        await this.#send(this.#stop.signal);
        backoff.reset();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        onError(error);
        await backoff.wait(this.#stop.signal, retryAfterMsOf(error));
      }
    }
  }

  /** R3. */
  async #gatherReports(): Promise<void> {
    let isTimeOver = false;
    const timer = this.#options.timers.after(limits.node.statusBatchDelayMs, () => {
      isTimeOver = true;
      this.#wake();
    });
    const isReady = () => isTimeOver || (this.#urgent && this.#hasToken());
    while (!isReady() && !this.#stop.signal.aborted) await this.#woken();
    timer.clear();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #hasToken(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const gained = (nowMs - this.#tokensAtMs) / reportLimits.paceMs;
    this.#tokens = Math.min(reportLimits.burst, this.#tokens + gained);
    this.#tokensAtMs = nowMs;
    return this.#tokens >= 1;
  }

  async #send(signal: AbortSignal): Promise<void> {
    const batch = [...this.#waiting.values()].slice(0, limits.node.statusBatchSizeMax);
    if (this.#hasToken()) this.#tokens--;
    this.#urgent = false;
    try {
      await this.#options.send(batch, signal);
    } catch (error) {
      this.#urgent = true;
      throw error;
    }
    for (const report of batch) {
      this.#toldStatus.set(report.ID, report.ClientStatus);
      if (this.#waiting.get(report.ID) === report) this.#waiting.delete(report.ID);
    }
    this.#urgent ||= [...this.#waiting.values()].some(
      ({ ID, ClientStatus }) => this.#toldStatus.get(ID) !== ClientStatus,
    );
    this.#options.onDelivered(batch);
  }

  /** The allocation is gone from this node. */
  forget(id: string): void {
    this.#toldStatus.delete(id);
  }
}

import { durationMs } from '../../../base/duration.ts';
import { delay, type World } from '../../../base/ports.ts';
import type { CheckResult } from '../../../model/check-result/check-result.ts';
import {
  type CheckCounts,
  counted,
  failuresAfter,
  initialCounts,
  modeOf,
  satisfies,
} from '../../../model/check-result/check-rules.ts';
import { limits } from '../../../model/limits.ts';
import type { DriverCommand, DriverExec } from '../../drivers/driver.ts';
import type { DescribedCheck } from './described.ts';
import type { Gate } from './gate.ts';
import { failed, type Probe, type Probed } from './probes/probe.ts';

export interface CheckSurroundings {
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  readonly allocId: string;
  readonly probe: Probe;
  readonly gate: Gate;
  readonly exec: (task: string, command: DriverCommand) => Promise<DriverExec>;
  /** Called when its status changes, and after its first run. */
  readonly changed: () => void;
  readonly restart: (tasks: readonly string[], reason: string) => void;
}

/**
 * One check, repeated until it is closed.
 * Source: docs/behaviour/job-specification.md#checks.
 *
 * Invariants
 *  R1. One run is under way at a time, and ends after its timeout at most.
 *  R2. The first run comes at a random time within a spread, so that checks do not begin together.
 *  R3. Once it is closed, nothing is counted or reported.
 */
export class RunningCheck {
  readonly description: DescribedCheck;
  readonly #surroundings: CheckSurroundings;
  readonly #closed = new AbortController();
  readonly #graceMs: number;
  #counts: CheckCounts;
  #last: Probed = { outcome: 'critical', statusCode: 0, output: '' };
  #doneAtMs = 0;
  #sinceMs: number;
  /** Failures in a row that count for restarts: those after `graceEndMs` by the monotonic clock. */
  #failures = 0;
  #graceEndMs: number;

  constructor(description: DescribedCheck, surroundings: CheckSurroundings) {
    const { clock } = surroundings.world;
    this.description = description;
    this.#surroundings = surroundings;
    this.#counts = initialCounts(description.check);
    this.#sinceMs = clock.nowMs();
    this.#graceMs = durationMs(description.check.CheckRestart?.Grace ?? 0);
    this.#graceEndMs = clock.monotonicMs() + this.#graceMs;
  }

  get status(): CheckCounts['status'] {
    return this.#counts.status;
  }

  get isSatisfied(): boolean {
    return satisfies(this.status, this.description.check);
  }

  get isDone(): boolean {
    return this.#doneAtMs > 0;
  }

  get result(): CheckResult {
    const { id, service, group, task, check } = this.description;
    return {
      ID: id,
      Check: check.Name,
      Service: service,
      Group: group,
      Task: task,
      Type: check.Type,
      Mode: modeOf(check),
      Status: this.status,
      StatusCode: this.#last.statusCode,
      Output: this.#last.output,
      Failures: this.#counts.unwell,
      Timestamp: Math.floor(this.#doneAtMs / 1000),
      Since: Math.floor(this.#sinceMs / 1000),
    };
  }

  start(): void {
    void this.#run();
  }

  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    const { timers, clock, random } = this.#surroundings.world;
    const { signal } = this.#closed;
    const intervalMs = durationMs(this.description.check.Interval);
    const spreadMs = Math.min(intervalMs, limits.check.startSpreadMs);
    await delay(timers, spreadMs * random.fraction(), signal);
    while (!signal.aborted) {
      const beganMs = clock.monotonicMs();
      const probed = await this.#probe();
      if (signal.aborted || probed === undefined) return;
      this.#noteResult(probed);
      await delay(timers, Math.max(0, intervalMs - (clock.monotonicMs() - beganMs)), signal);
    }
  }

  #probe(): Promise<Probed | undefined> {
    const { gate, allocId } = this.#surroundings;
    const { signal } = this.#closed;
    return gate.through(allocId, signal, () => this.#probeInTime());
  }

  /** R1. */
  async #probeInTime(): Promise<Probed> {
    const { check, target, scriptTask } = this.description;
    const { probe, exec, world } = this.#surroundings;
    const timeoutMs = durationMs(check.Timeout);
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#closed.signal]);
    const cut = Promise.withResolvers<Probed>();
    const late = failed(`no answer within ${timeoutMs / 1000}s`);
    const timer = world.timers.after(timeoutMs, () => {
      cut.resolve(late);
      over.abort();
    });
    this.#closed.signal.addEventListener('abort', () => cut.resolve(late), { once: true });
    const wish = {
      check,
      target,
      signal,
      exec: (command: DriverCommand) => exec(scriptTask, command),
    };
    const made = Promise.resolve()
      .then(() => probe(wish))
      .catch((error: Error) => failed(error.message));
    try {
      return await Promise.race([cut.promise, made]);
    } finally {
      timer.clear();
      over.abort();
    }
  }

  #noteResult(probed: Probed): void {
    const { clock } = this.#surroundings.world;
    const isFirst = !this.isDone;
    const before = this.status;
    this.#counts = counted(this.#counts, probed.outcome, this.description.check);
    this.#last = { ...probed, output: probed.output.slice(0, limits.check.outputBytesMax) };
    this.#doneAtMs = clock.nowMs();
    const isNews = this.status !== before;
    if (isNews) this.#sinceMs = this.#doneAtMs;
    this.#considerRestart();
    if (isNews || isFirst) this.#surroundings.changed();
  }

  /** Source: docs/behaviour/client.md#health. */
  #considerRestart(): void {
    const { check, service, restarts } = this.description;
    const rule = check.CheckRestart;
    const nowMs = this.#surroundings.world.clock.monotonicMs();
    if (rule === null || rule.Limit === 0 || nowMs < this.#graceEndMs) return;
    this.#failures = failuresAfter(this.#failures, this.status, rule);
    if (this.#failures < rule.Limit) return;
    const times = rule.Limit === 1 ? 'once' : `${rule.Limit} times in a row`;
    const reason = `Check "${check.Name}" of the service "${service}" failed ${times}`;
    this.#failures = 0;
    this.#graceEndMs = nowMs + this.#graceMs;
    this.#surroundings.restart(restarts, reason);
  }
}

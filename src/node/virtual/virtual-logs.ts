import { delay, type Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { OutputType } from '../drivers/mock.ts';
import { changeWatchLimits, virtualLogLimits } from '../limits.ts';
import type { LogChunk, LogQuery } from '../logs/log-reader.ts';

/** The output of a task, in all of its runs. */
class VirtualLog {
  bytes: Buffer = Buffer.alloc(0);
  /** The number of bytes before these, which are gone. */
  dropped = 0;
  #changed = Promise.withResolvers<void>();

  get end(): number {
    return this.dropped + this.bytes.length;
  }

  write(text: string): void {
    const all = Buffer.concat([this.bytes, Buffer.from(text)]);
    const excess = Math.max(0, all.length - virtualLogLimits.bytesMax);
    this.bytes = all.subarray(excess);
    this.dropped += excess;
    this.note();
  }

  note(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Returns `false` if there was no change for a while. */
  async changes(timers: Timers, signal: AbortSignal): Promise<boolean> {
    const waiting = new AbortController();
    const over = AbortSignal.any([signal, waiting.signal]);
    const quiet = delay(timers, changeWatchLimits.quietIntervalMs, over).then(() => false);
    const changed = this.#changed.promise.then(() => true);
    return Promise.race([changed, quiet]).finally(() => waiting.abort());
  }
}

/** The logs of the tasks of a virtual node, in memory. */
export class VirtualLogs {
  readonly #logs = new Map<string, Map<string, VirtualLog>>();

  write(allocId: string, task: string, type: OutputType, text: string): void {
    this.#logOf(allocId, task, type).write(text);
  }

  forget(allocId: string): void {
    this.#logs.delete(allocId);
  }

  /** As `readLog`. */
  async *read({
    allocId,
    task,
    type,
    ...query
  }: LogQuery & { readonly allocId: string }): AsyncGenerator<LogChunk | undefined, void> {
    const { origin, offset, follow, isOver, signal, timers } = query;
    const log = this.#logOf(allocId, task, type);
    if (follow) void query.whenOver.then(() => log.note());
    let at = origin === 'start' ? Math.min(offset, log.end) : Math.max(0, log.end - offset);
    while (!signal.aborted) {
      // Asked before the read, which then sees everything written before the end.
      const over = isOver();
      const start = Math.max(at, log.dropped);
      const from = start - log.dropped;
      const data = log.bytes.subarray(from, from + limits.stream.sentFrameBytes);
      if (data.length > 0) {
        yield { file: `${task}.${type}.0`, offset: start, data, gap: start > at };
        at = start + data.length;
      } else if (!follow || over) return;
      else if (!(await log.changes(timers, signal))) yield undefined;
    }
  }

  #logOf(allocId: string, task: string, type: OutputType): VirtualLog {
    const logs = this.#logs.get(allocId) ?? new Map<string, VirtualLog>();
    this.#logs.set(allocId, logs);
    const name = `${task}.${type}`;
    const log = logs.get(name) ?? new VirtualLog();
    logs.set(name, log);
    return log;
  }
}

import type { Log } from '../../base/log.ts';
import { logOptions } from '../../base/log-options.ts';
import { type Clock, delay, type Timers } from '../../base/ports.ts';
import { refusal } from '../errors.ts';
import { limits } from '../limits.ts';
import type { LogLevel } from './log-level.ts';

/** Not in limits: the numbers of the levels in lines. */
const levelNumbers = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const;

/** Lines that a reader takes at once, in JSON. */
export interface Taken {
  readonly lines: readonly string[];
  /** Lines after them for which there was no room. */
  readonly dropped: number;
}

type Writer = Pick<Log, 'debug' | 'info' | 'warn' | 'error'>;

/**
 * The lines of a log, for readers that come and go.
 *
 * Invariants
 *  L1. A reader chooses its level, whatever level the log is written at. A line has the same form and the same secrets
 *      removed as in the log.
 *  L2. Without a reader a line costs a comparison, and nothing is loaded or kept.
 *  L3. A slow reader costs a bounded buffer and delays nobody. It is told how many lines it has missed.
 */
export class LogLines {
  readonly #clock: Clock;
  readonly #readers = new Set<LogReader>();
  readonly #listeners = new Set<(isVerbose: boolean) => void>();
  #writer: Writer | undefined;
  /** The least level that a reader wants. */
  #least: number = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a reader wants the lines of a level. */
  wants(level: LogLevel): boolean {
    return levelNumbers[level] >= this.#least;
  }

  add(level: keyof Writer, fields: object, sentence: string): void {
    if (this.wants(level)) this.#writer?.[level](fields, sentence);
  }

  /** Calls `listen` when a first reader wants lines of the level debug, and when the last one has left. */
  onVerbose(listen: (isVerbose: boolean) => void): void {
    this.#listeners.add(listen);
  }

  /** Begins to keep lines for a reader. @throws RosterError `too-many-monitors` */
  async open(level: LogLevel): Promise<LogReader> {
    this.#writer ??= await this.#newWriter();
    if (this.#readers.size >= limits.monitor.readersMax) {
      throw refusal('too-many-monitors', { limit: limits.monitor.readersMax });
    }
    const reader = new LogReader(levelNumbers[level], () => {
      this.#readers.delete(reader);
      this.#noteReaders();
    });
    this.#readers.add(reader);
    this.#noteReaders();
    return reader;
  }

  #noteReaders(): void {
    const wasVerbose = this.wants('debug');
    this.#least = Math.min(...[...this.#readers].map(({ level }) => level));
    const isVerbose = this.wants('debug');
    if (isVerbose === wasVerbose) return;
    for (const listen of this.#listeners) listen(isVerbose);
  }

  /** Few agents are ever monitored. */
  async #newWriter(): Promise<Writer> {
    const { default: pino } = await import('pino');
    const sink = {
      /** Asks for `lastLevel`. */
      [Symbol.for('pino.metadata')]: true,
      lastLevel: 0,
      write: (line: string) => {
        for (const reader of this.#readers) {
          if (sink.lastLevel >= reader.level) reader.put(line.trimEnd());
        }
      },
    };
    const options = {
      ...logOptions('trace'),
      base: null,
      timestamp: () => `,"time":${this.#clock.nowMs()}`,
    };
    const writer: Writer = pino(options, sink);
    return writer;
  }
}

/** The lines that wait for a reader. */
export class LogReader {
  readonly level: number;
  /** Ends the reading. */
  readonly close: () => void;
  #lines: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #wake: () => void = () => {};

  constructor(level: number, close: () => void) {
    this.level = level;
    this.close = close;
  }

  put(line: string): void {
    const isFull =
      this.#lines.length >= limits.monitor.linesMax ||
      this.#bytes + line.length > limits.monitor.waitingBytesMax;
    // Lines after a gap are dropped until it is told, so that it is told at its place.
    if (isFull || this.#dropped > 0) this.#dropped++;
    else {
      this.#lines.push(line);
      this.#bytes += line.length;
    }
    this.#wake();
  }

  /** `undefined`: nothing is new. */
  take(): Taken | undefined {
    const taken = { lines: this.#lines, dropped: this.#dropped };
    if (taken.lines.length === 0 && taken.dropped === 0) return undefined;
    this.#lines = [];
    this.#bytes = 0;
    this.#dropped = 0;
    return taken;
  }

  /** Resolves at the next line, after the time, and when the signal aborts. */
  async news(timers: Timers, waitMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    this.#wake = () => over.abort();
    await delay(timers, waitMs, AbortSignal.any([over.signal, signal]));
  }
}

/** A log whose lines can be read while they are written. */
export interface MonitoredLog extends Log {
  readonly lines: LogLines;
}

/** Lets the lines of a log be read, unless they can be already. */
export function monitored(log: Log, clock: Clock): MonitoredLog {
  if ('lines' in log) return log as MonitoredLog;
  const lines = new LogLines(clock);
  const both = (level: keyof Writer) => (fields: object, sentence: string) => {
    log[level](fields, sentence);
    lines.add(level, fields, sentence);
  };
  return {
    lines,
    debug: both('debug'),
    info: both('info'),
    warn: both('warn'),
    error: both('error'),
    isLevelEnabled: (level) => lines.wants(level) || log.isLevelEnabled?.(level) === true,
  };
}

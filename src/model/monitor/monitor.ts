import type { Clock, Timers } from '../../base/ports.ts';
import type { ErrorCode } from '../errors.ts';
import { limits } from '../limits.ts';
import type { LogLevel } from './log-level.ts';
import type { LogLines, Taken } from './log-lines.ts';

/** The request for live log lines. Source: docs/operations/diagnosis.md#live-logs. */
export interface MonitorRequest {
  readonly level: LogLevel;
  /** Lines in JSON instead of text. */
  readonly isJson: boolean;
  /** The lines alone, without frames. */
  readonly isPlain: boolean;
}

/** A line of a stream of frames; `{}` says that nothing is new. */
export interface MonitorFrame {
  /** Lines of the log, each with its end, in base64. */
  readonly Data?: string;
  /** The reason of the end of the stream. */
  readonly Error?: { readonly Code: ErrorCode; readonly Message: string };
}

interface MonitorPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/**
 * The lines of a log from now on, until the signal aborts.
 * @throws RosterError `too-many-monitors`, before it resolves
 */
export async function monitor(
  lines: LogLines,
  request: MonitorRequest,
  ports: MonitorPorts,
): Promise<AsyncGenerator<Uint8Array, void>> {
  const reader = await lines.open(request.level);
  ports.signal.addEventListener('abort', reader.close, { once: true });
  if (ports.signal.aborted) reader.close();
  return monitorParts(reader, request, ports);
}

async function* monitorParts(
  reader: Awaited<ReturnType<LogLines['open']>>,
  { isJson, isPlain }: MonitorRequest,
  { clock, timers, signal }: MonitorPorts,
): AsyncGenerator<Uint8Array, void> {
  try {
    if (!isPlain) yield frameLine({});
    while (!signal.aborted) {
      const taken = reader.take();
      if (taken !== undefined) {
        const text = textOf(taken, isJson, clock);
        yield isPlain ? Buffer.from(text) : frameLine(frameOf(text));
        continue;
      }
      const beforeMs = clock.monotonicMs();
      await reader.news(timers, limits.monitor.heartbeatMs, signal);
      const isSilent = clock.monotonicMs() - beforeMs >= limits.monitor.heartbeatMs;
      if (isSilent && !isPlain && !signal.aborted) yield frameLine({});
    }
  } finally {
    reader.close();
  }
}

export const frameLine = (frame: MonitorFrame): Uint8Array =>
  Buffer.from(`${JSON.stringify(frame)}\n`);

/** The frame of a text of lines. */
const frameOf = (text: string): MonitorFrame => ({ Data: Buffer.from(text).toString('base64') });

function textOf({ lines, dropped }: Taken, isJson: boolean, clock: Clock): string {
  const gap = { level: 40, time: clock.nowMs(), dropped, msg: droppedSentence };
  const all = dropped === 0 ? lines : [...lines, JSON.stringify(gap)];
  return all.map((line) => `${isJson ? line : plainLine(line)}\n`).join('');
}

const droppedSentence = 'lines were dropped, since they were read too slowly';

/** A line in JSON, for people: `2026-01-01T00:00:00.000Z [INFO] sentence: field=value`. */
function plainLine(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown> & {
    readonly level: number;
    readonly time: number;
  };
  const told = Object.entries(fields).map(([name, value]) => `${name}=${shownField(value)}`);
  const about = told.length === 0 ? '' : `: ${told.join(' ')}`;
  return `${new Date(time).toISOString()} [${levelNames[level] ?? level}] ${msg}${about}`;
}

const levelNames: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
};

/** Of an error, the message alone; a text without blanks as it is; numbers without long fractions. */
function shownField(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 1000) / 1000);
  const isError = typeof value === 'object' && value !== null && 'message' in value;
  const shown = isError ? value.message : value;
  return typeof shown === 'string' && /^[^\s"=]+$/.test(shown) ? shown : JSON.stringify(shown);
}

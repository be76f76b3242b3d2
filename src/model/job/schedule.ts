/**
 * The slots of a schedule. A slot is an instant, on a whole second, at which a periodic job is due.
 * Cron expressions are croner's: five fields, six with seconds before them, seven with years
 * behind them, or a macro. `@every 5m` is Roster's own: its slots are the multiples of the duration
 * since 1970-01-01T00:00Z, so a restart moves nothing.
 *
 * When a zone moves its clocks:
 *  1. An expression with one second, one minute and one hour (`30 2 * * *`) is a time of the day. If
 *     that time is skipped, the slot is the first instant after the gap; if it comes twice, the first.
 *  2. Any other expression (a wildcard, list, range or step in one of the three) repeats in the day. A skipped
 *     time has no slot, and a time that comes twice has two.
 *
 * Source: docs/behaviour/job-specification.md#periodic-and-parameterized-jobs.
 */
import { Cron } from 'croner';
import { parseDuration } from '../../base/duration.ts';
import { limits } from '../limits.ts';
import type { Periodic } from './job.ts';

export interface Schedule {
  /** The first slot after an instant, in ms; `undefined` if there is none. */
  readonly next: (afterMs: number) => number | undefined;
  /** The last slot at or before an instant. Called only if there is one. */
  readonly latest: (untilMs: number) => number | undefined;
}

const secondMs = 1000;
const every = /^@every\s+(\S+)$/;
/** The other macros of croner are not schedules (`@reboot`). */
const macro = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;

/** A schedule, or the fault of the text, as the words after "is not a schedule: ". */
export function parseSchedule(text: string, timeZone: string): Schedule | string {
  const { specLengthMax } = limits.periodic;
  if (text.length > specLengthMax) return `it is longer than ${specLengthMax} characters`;
  const [, interval] = every.exec(text.trim()) ?? [];
  return interval === undefined ? parseCron(text.trim(), timeZone) : parseInterval(interval);
}

function parseInterval(text: string): Schedule | string {
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined) return '@every needs a duration such as 5m';
  const stepMs = nanoseconds / 1e6;
  if (stepMs < secondMs || stepMs % secondMs !== 0)
    return '@every needs whole seconds, one at least';
  const latest = (untilMs: number) => Math.floor(untilMs / stepMs) * stepMs;
  return { latest, next: (afterMs) => latest(afterMs) + stepMs };
}

function parseCron(text: string, timezone: string): Schedule | string {
  if (text.startsWith('@')) {
    if (!macro.test(text)) return 'there is no such macro';
  } else {
    // A date and a time, which croner takes as well, count as a single field.
    const { length } = text.split(/\s+/);
    if (length < 5 || length > 7) return `it has ${length} fields, and needs five, six or seven`;
  }
  try {
    const cron = new Cron(text, { timezone });
    return {
      next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime(),
      latest: (untilMs) => {
        // croner looks before an instant, and at whole seconds.
        const endMs = (Math.floor(untilMs / secondMs) + 1) * secondMs;
        return cron.previousRuns(1, new Date(endMs))[0]?.getTime();
      },
    };
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '');
  }
}

const parsed = new WeakMap<Periodic, readonly Schedule[]>();

/** The schedules of a valid block. */
export function schedulesOf(periodic: Periodic): readonly Schedule[] {
  let schedules = parsed.get(periodic);
  if (schedules === undefined) {
    schedules = specsOf(periodic)
      .map((spec) => parseSchedule(spec, periodic.TimeZone))
      .filter((schedule) => typeof schedule !== 'string')
      .map(remembering);
    parsed.set(periodic, schedules);
  }
  return schedules;
}

/** `Spec` is the older field for a single expression. */
export const specsOf = ({ Spec, Specs }: Periodic): readonly string[] =>
  Spec === '' ? (Specs ?? []) : [Spec];

/**
 * Remembers the last answers: the same slot is asked for several times before it has passed, and may take
 * long to find.
 */
function remembering({ next, latest }: Schedule): Schedule {
  let fromMs = Number.POSITIVE_INFINITY;
  let slotMs: number | undefined;
  return {
    latest,
    next(afterMs) {
      const isKnown = afterMs >= fromMs && (slotMs === undefined || afterMs < slotMs);
      if (!isKnown) {
        slotMs = next(afterMs);
        fromMs = afterMs;
      }
      return slotMs;
    },
  };
}

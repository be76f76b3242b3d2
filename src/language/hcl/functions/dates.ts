import type { Clock } from '../../../base/ports.ts';
import { days, halfOfDay, hourOf12, months, two } from '../../functions/calendar.ts';
import { FunctionFault } from '../../functions/fault.ts';
import { define, type Functions, text } from './define.ts';

export const dateFunctions = (clock: Clock): Functions => ({
  formatdate: define([text('spec'), text('timestamp')], ([spec, timestamp], budget) => {
    budget.work(10 + (spec.length >> 1));
    return budget.made(formatDate(spec, parseTimestamp(timestamp, 1)));
  }),
  timeadd: define([text('timestamp'), text('duration')], ([timestamp, duration]) => {
    const { unixMs, offsetMinutes } = parseTimestamp(timestamp, 0);
    return timestampText(unixMs + parseSpan(duration), offsetMinutes);
  }),
  timestamp: define([], () => timestampText(clock.nowMs(), 0)),
});

interface Timestamp {
  readonly unixMs: number;
  readonly offsetMinutes: number;
}

const timestampForm =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** RFC 3339. */
function parseTimestamp(value: string, argument: number): Timestamp {
  const found = timestampForm.exec(value);
  const refused = new FunctionFault(
    `${JSON.stringify(value.slice(0, 40).toWellFormed())} is no time of RFC 3339, such as "2026-01-31T18:00:00Z"`,
    argument,
  );
  if (found === null) throw refused;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offset =
    (Number(found[9] ?? 0) * 60 + Number(found[10] ?? 0)) * (found[8] === '-' ? -1 : 1);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Math.floor(Number(`0${found[7] ?? ''}`) * 1000));
  const isReal =
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60;
  if (!isReal || Number(found[9] ?? 0) > 23 || Number(found[10] ?? 0) > 59) throw refused;
  return { unixMs: date.getTime() - offset * 60_000, offsetMinutes: offset };
}

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const spanForm = /^[+-]?(?:(?:\d{1,15}(?:\.\d{0,9})?|\.\d{1,9})(?:ns|us|µs|μs|ms|s|m|h))+$/;

/** Milliseconds of `1h30m`, also beyond the hundred days of `parseDuration`. */
function parseSpan(value: string): number {
  if (value === '0') return 0;
  if (value.length > 100 || !spanForm.test(value)) {
    const quoted = JSON.stringify(value.slice(0, 40).toWellFormed());
    throw new FunctionFault(`${quoted} is no duration, such as "1h30m"`, 1);
  }
  let total = 0;
  for (const [, amount, unit] of value.matchAll(/([\d.]+)([^\d.]+)/g)) {
    total += Number(amount) * unitMs[unit!]!;
  }
  return value.startsWith('-') ? -total : total;
}

function timestampText(unixMs: number, offsetMinutes: number): string {
  const local = new Date(unixMs + offsetMinutes * 60_000);
  const year = local.getUTCFullYear();
  if (!(year >= 0 && year <= 9999))
    throw new FunctionFault('the result is beyond the year 9999', 1);
  return local.toISOString().slice(0, 19) + zoneText(offsetMinutes, ':', 'Z');
}

function zoneText(offsetMinutes: number, separator: string, zero: string): string {
  if (offsetMinutes === 0 && zero !== '') return zero;
  const size = Math.abs(offsetMinutes);
  const sign = offsetMinutes < 0 ? '-' : '+';
  return `${sign}${two(Math.floor(size / 60))}${separator}${two(size % 60)}`;
}

type Part = (local: Date, offsetMinutes: number) => string;

/** The part of a date for a run of the same letter. */
const parts: Readonly<Record<string, Part>> = {
  YYYY: (local) => String(local.getUTCFullYear()).padStart(4, '0'),
  YY: (local) => two(local.getUTCFullYear() % 100),
  MMMM: (local) => months[local.getUTCMonth()]!,
  MMM: (local) => months[local.getUTCMonth()]!.slice(0, 3),
  MM: (local) => two(local.getUTCMonth() + 1),
  M: (local) => String(local.getUTCMonth() + 1),
  DD: (local) => two(local.getUTCDate()),
  D: (local) => String(local.getUTCDate()),
  EEEE: (local) => days[local.getUTCDay()]!,
  EEE: (local) => days[local.getUTCDay()]!.slice(0, 3),
  hh: (local) => two(local.getUTCHours()),
  h: (local) => String(local.getUTCHours()),
  HH: (local) => two(hourOf12(local)),
  H: (local) => String(hourOf12(local)),
  AA: (local) => halfOfDay(local).toUpperCase(),
  aa: halfOfDay,
  mm: (local) => two(local.getUTCMinutes()),
  m: (local) => String(local.getUTCMinutes()),
  ss: (local) => two(local.getUTCSeconds()),
  s: (local) => String(local.getUTCSeconds()),
  ZZZZZ: (_, offset) => zoneText(offset, ':', ''),
  ZZZZ: (_, offset) => zoneText(offset, '', ''),
  ZZZ: (_, offset) => zoneText(offset, '', 'UTC'),
  Z: (_, offset) => zoneText(offset, ':', 'Z'),
};

/** Quoted text, runs of the same letter, and other characters. */
const pieces = /'([^']*(?:''[^']*)*)'|([A-Za-z])\2*|[^A-Za-z']+|'/g;

function formatDate(spec: string, { unixMs, offsetMinutes }: Timestamp): string {
  const local = new Date(unixMs + offsetMinutes * 60_000);
  let written = '';
  for (const [piece, quoted, letter] of spec.matchAll(pieces)) {
    if (quoted !== undefined) written += quoted === '' ? "'" : quoted.replaceAll("''", "'");
    else if (piece === "'") throw new FunctionFault("a ' is not closed by another one", 0);
    else if (letter === undefined) written += piece;
    else {
      const part = Object.hasOwn(parts, piece) ? parts[piece]! : undefined;
      if (part === undefined) {
        const known = Object.keys(parts).join(' ');
        const hint = `write text between ' and '; there are ${known}`;
        throw new FunctionFault(`"${piece.slice(0, 20)}" is no part of a date; ${hint}`, 0);
      }
      written += part(local, offsetMinutes);
    }
  }
  return written;
}

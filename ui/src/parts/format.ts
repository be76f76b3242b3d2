/** Numbers, sizes and times in words. */
import { parseDuration } from '../../../src/base/duration.ts';

const number = new Intl.NumberFormat('en');
const fraction = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const small = new Intl.NumberFormat('en', { maximumFractionDigits: 6 });
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

export const numberText = (value: number): string => number.format(value);

export function bytesText(bytes: number): string {
  let step = 0;
  // As it is written, 1,023.96 KiB would be 1,024 KiB.
  while (step < units.length - 1 && Math.round((10 * bytes) / 1024 ** step) >= 10_240) step += 1;
  return `${fraction.format(bytes / 1024 ** step)} ${units[step]}`;
}

/**
 * A share of a whole, from 0 to 1 or above it, in whole percent: 0, 100 and more only if it is exactly that, or above.
 * `undefined`: there is no whole.
 */
export function percentText(share: number | undefined): string {
  if (share === undefined) return '–';
  if (share > 0 && share < 0.01) return '< 1 %';
  if (share > 0.99 && share < 1) return '> 99 %';
  if (share > 1) return `${numberText(Math.max(101, Math.round(100 * share)))} %`;
  return `${Math.round(100 * share)} %`;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Two units at most: `3 h 12 min`, `450 ms`. */
export function durationText(durationMs: number): string {
  const ms = Math.abs(durationMs);
  const sign = durationMs < 0 ? '−' : '';
  if (ms < second) return `${sign}${Math.floor(ms)} ms`;
  if (ms < minute) return `${sign}${fraction.format(Math.floor(ms / 100) / 10)} s`;
  if (ms < hour) return `${sign}${two(ms, [minute, 'min'], [second, 's'])}`;
  if (ms < day) return `${sign}${two(ms, [hour, 'h'], [minute, 'min'])}`;
  return `${sign}${two(ms, [day, 'd'], [hour, 'h'])}`;
}

type Unit = readonly [ms: number, word: string];

function two(ms: number, [big, bigWord]: Unit, [small, smallWord]: Unit): string {
  const rest = Math.floor((ms % big) / small);
  const whole = `${Math.floor(ms / big)} ${bigWord}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallWord}`;
}

/** A duration that somebody has set, with all of its units: `1 h 30 s`. */
export function settingText(durationMs: number): string {
  const sign = durationMs < 0 ? '−' : '';
  let rest = Math.abs(durationMs);
  const words: string[] = [];
  const take = (unit: number, word: string): void => {
    if (rest >= unit) words.push(`${numberText(Math.floor(rest / unit))} ${word}`);
    rest %= unit;
  };
  take(day, 'd');
  take(hour, 'h');
  take(minute, 'min');
  if (rest >= second) words.push(`${small.format(rest / second)} s`);
  else if (rest > 0) words.push(`${small.format(rest)} ms`);
  return words.length === 0 ? '0 s' : `${sign}${words.join(' ')}`;
}

/** The words of a duration as the API writes it. */
export function writtenText(written: string): string {
  const nanoseconds = parseDuration(written);
  return nanoseconds === undefined ? written : settingText(nanosecondsToMs(nanoseconds));
}

/** `5 s ago`, `in 3 h`. Within a second: `now`. */
export function relativeText(instantMs: number, nowMs: number): string {
  const ms = instantMs - nowMs;
  const size = Math.abs(ms);
  if (size < second) return 'now';
  const words = coarse(size);
  return ms < 0 ? `${words} ago` : `in ${words}`;
}

function coarse(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)} h`;
  if (ms < 365 * day) return `${Math.floor(ms / day)} d`;
  return `${fraction.format(ms / (365 * day))} y`;
}

const nanosecondsInMs = 1_000_000;

/**
 * Milliseconds of an instant in any form of the API: RFC 3339, nanoseconds since 1970, or milliseconds marked as such by
 * being a `Date`. The zero of either form means "never".
 */
export function instantMs(value: string | number | Date | null | undefined): number | undefined {
  if (value === null || value === undefined || value === '' || value === 0) return undefined;
  if (value instanceof Date) return value.getTime();
  if (typeof value === 'number') return value / nanosecondsInMs;
  const ms = Date.parse(value);
  return Number.isNaN(ms) || value.startsWith('0001-01-01') ? undefined : ms;
}

export const nanosecondsToMs = (nanoseconds: number): number => nanoseconds / nanosecondsInMs;

/**
 * Durations as they are written: `"1h30m"`, `"250ms"`, or an integer of nanoseconds.
 * Source: docs/contract/http.md#numbers-durations-and-instants.
 */
const nanosecondsPerUnit: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

const wholeForm = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const oneTerm = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/**
 * Nanoseconds of a written duration; `undefined` if the text is no duration or exceeds a safe integer.
 * `"0"` needs no unit.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0' || text === '+0' || text === '-0') return 0;
  if (!wholeForm.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(oneTerm)) {
    total += Number(amount) * nanosecondsPerUnit[unit!]!;
  }
  const signed = Math.round(text.startsWith('-') ? -total : total);
  return Number.isSafeInteger(signed) ? signed : undefined;
}

/** Writes nanoseconds as in Go: `5m0s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(nanoseconds: number): string {
  if (nanoseconds === 0) return '0s';
  const sign = nanoseconds < 0 ? '-' : '';
  const total = Math.abs(nanoseconds);
  if (total < 1e3) return `${sign}${total}ns`;
  if (total < 1e6) return `${sign}${trim(total, 1e3)}µs`;
  if (total < 1e9) return `${sign}${trim(total, 1e6)}ms`;
  const hours = Math.floor(total / 3600e9);
  const minutes = Math.floor((total % 3600e9) / 60e9);
  const seconds = `${trim(total % 60e9, 1e9)}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  if (minutes > 0) return `${sign}${minutes}m${seconds}`;
  return `${sign}${seconds}`;
}

/** `amount / unit` of safe integers, with all digits and no trailing zeros. */
function trim(amount: number, unit: number): string {
  const whole = Math.floor(amount / unit);
  const rest = amount % unit;
  if (rest === 0) return String(whole);
  const digits = String(unit).length - 1;
  return `${whole}.${String(rest).padStart(digits, '0').replace(/0+$/, '')}`;
}

export const nanosecondsPerMillisecond = 1e6;

/** Nanoseconds to milliseconds, for timers. */
export const durationMs = (nanoseconds: number): number => nanoseconds / nanosecondsPerMillisecond;

export const seconds = (count: number): number => count * 1e9;
export const minutes = (count: number): number => count * 60e9;
export const hours = (count: number): number => count * 3600e9;

import { durationMs, formatDuration, parseDuration } from '../../base/duration.ts';
import { limits } from '../../model/limits.ts';

/** A check of a setting. */
export interface Check {
  /** Says what the setting must be; `undefined` if the value is valid. */
  readonly fault: (value: unknown) => string | undefined;
}

/** Accepts a text that passes the test. */
export const textThat = (test: (text: string) => boolean, must: string): Check => ({
  fault: (value) => (typeof value === 'string' && test(value) ? undefined : must),
});

export const text = (most = 256): Check =>
  textThat(
    (value) => value !== '' && value.length <= most,
    `must be text of 1 to ${most} characters`,
  );

export const file = text(4096);

export const oneOf = (words: readonly string[]): Check =>
  textThat((value) => words.includes(value), `must be ${words.join(' or ')}`);

/** Accepts a list of texts that pass the test. */
export const listThat = (
  test: (text: string) => boolean,
  must: string,
  { least = 0, most = Number.POSITIVE_INFINITY } = {},
): Check => ({
  fault: (value) =>
    Array.isArray(value) &&
    value.length >= least &&
    value.length <= most &&
    value.every((item) => typeof item === 'string' && test(item))
      ? undefined
      : must,
});

export const someOf = (words: readonly string[]): Check =>
  listThat((word) => words.includes(word), `must be a list of ${words.join(', ')}`);

export const flag: Check = {
  fault: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
};

export const name: Check = textThat(
  (value) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(value),
  'must be a name of letters, digits, ".", "_" and "-"',
);

export function duration(leastMs: number): Check {
  const { ageMaxMs: mostMs } = limits.garbage;
  const [least, most] = [leastMs, mostMs].map((bound) => formatDuration(bound * 1e6));
  return textThat((value) => {
    const ms = durationMs(parseDuration(value) ?? Number.NaN);
    return ms >= leastMs && ms <= mostMs;
  }, `must be a duration from ${least} to ${most}, such as "90m"`);
}

/** A number, or the text of a flag. */
export const wholeBetween = (least: number, most: number): Check => ({
  fault: (value) => {
    const number = typeof value === 'string' && value !== '' ? Number(value) : value;
    const isWhole = Number.isSafeInteger(number);
    const isRight = isWhole && Number(number) >= least && Number(number) <= most;
    return isRight ? undefined : `must be a whole number from ${least} to ${most}`;
  },
});

export const wholeFrom1: Check = {
  fault: (value) =>
    Number.isSafeInteger(value) && (value as number) > 0
      ? undefined
      : 'must be a whole number from 1 on',
};

/** Accepts an object whose values are texts, and whose keys and values pass the test. */
export const textMapThat = (test: (text: string) => boolean, must: string): Check => ({
  fault: (value) =>
    isTextMap(value) && Object.entries(value).flat().every(test) ? undefined : must,
});

const isTextMap = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((entry) => typeof entry === 'string');

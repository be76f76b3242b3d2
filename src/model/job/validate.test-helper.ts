import { describe, expect, test } from 'vitest';
import { canonicalizeJob } from './canonicalize.ts';
import { webJobWith } from './sample.test-helper.ts';
import { validateJob } from './validate.ts';

export const second = 1e9;

/** An interpolated attribute. */
export const attribute = (name: string): string => `\${${name}}`;

export const messages = (changes: Readonly<Record<string, unknown>>): string[] =>
  validateJob(canonicalizeJob(webJobWith(changes))).map((fault) => fault.message);

/**
 * A change of the sample and its only fault; without a message the job is valid. Paths are below `prefix`, or
 * below the job with a leading `^`.
 */
type Row = readonly [changes: Readonly<Record<string, unknown>>, message?: string];

export function table(title: string, prefix: string, rows: readonly Row[]): void {
  const named = rows.map(([changes, message]) => ({ changes, message }));
  describe(title, () => {
    test.each(named)('$changes', ({ changes, message }) => {
      const below = Object.entries(changes).map(([path, value]) => [
        path.startsWith('^') ? path.slice(1) : `${prefix}${path}`,
        value,
      ]);
      expect(messages(Object.fromEntries(below))).toEqual(message === undefined ? [] : [message]);
    });
  });
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  clockChanges,
  expressions,
  hourMs,
  minuteMs,
  slotsBetween,
  zones,
} from './cron-oracle.test-helper.ts';
import { parseSchedule, type Schedule } from './schedule.ts';

function schedule(text: string, zone = 'UTC'): Schedule {
  const parsed = parseSchedule(text, zone);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

const iso = (ms: number | undefined): string =>
  ms === undefined ? 'never' : new Date(ms).toISOString().replace(':00.000Z', 'Z');

/** The first `count` slots after an instant. */
function slots(text: string, zone: string, after: string, count: number): string[] {
  const found: string[] = [];
  let ms: number | undefined = Date.parse(after);
  while (found.length < count && ms !== undefined) {
    ms = schedule(text, zone).next(ms);
    found.push(iso(ms));
  }
  return found;
}

const newYear = '2026-01-01T00:00:00Z';

describe('forms', () => {
  test.each([
    ['*/20 * * * *', ['2026-01-01T00:20Z', '2026-01-01T00:40Z']],
    ['*/20 * * * * *', ['2026-01-01T00:00:20.000Z', '2026-01-01T00:00:40.000Z']],
    ['0 30 5 1 3 * 2027', ['2027-03-01T05:30Z', 'never']],
    ['@hourly', ['2026-01-01T01:00Z', '2026-01-01T02:00Z']],
    ['@daily', ['2026-01-02T00:00Z', '2026-01-03T00:00Z']],
    ['@midnight', ['2026-01-02T00:00Z', '2026-01-03T00:00Z']],
    ['@weekly', ['2026-01-04T00:00Z', '2026-01-11T00:00Z']],
    ['@monthly', ['2026-02-01T00:00Z', '2026-03-01T00:00Z']],
    ['@yearly', ['2027-01-01T00:00Z', '2028-01-01T00:00Z']],
    ['@annually', ['2027-01-01T00:00Z', '2028-01-01T00:00Z']],
    ['0 0 L * *', ['2026-01-31T00:00Z', '2026-02-28T00:00Z']],
    ['0 0 * * MON#1', ['2026-01-05T00:00Z', '2026-02-02T00:00Z']],
    ['0 0 13 * FRI', ['2026-01-02T00:00Z', '2026-01-09T00:00Z']],
    ['@every 90m', ['2026-01-01T01:30Z', '2026-01-01T03:00Z']],
    ['@every 7s', ['2026-01-01T00:00:07.000Z', '2026-01-01T00:00:14.000Z']],
  ])('%s', (text, expected) => {
    expect(slots(text, 'UTC', newYear, 2)).toEqual(expected);
  });

  test.each([
    ['', 'it has 1 fields'],
    ['2026-01-01T00:00:00', 'it has 1 fields'],
    ['* * * * * * * *', 'it has 8 fields'],
    ['@reboot', 'there is no such macro'],
    ['@every', 'there is no such macro'],
    ['@every 0s', '@every needs whole seconds'],
    ['@every -5m', '@every needs whole seconds'],
    ['@every 5', '@every needs a duration'],
    ['61 * * * *', 'Invalid value for minute: 61'],
    ['a b c d e', 'contains illegal characters'],
  ])('%s is not a schedule', (text, reason) => {
    expect(parseSchedule(text, 'UTC')).toContain(reason);
  });
});

describe('when clocks are moved (the rule at the top of schedule.ts)', () => {
  test.each([
    // 2:00 to 3:00 is skipped in New York on March 8, and 1:00 to 2:00 comes twice on November 1.
    ['30 2 * * *', '2026-03-07T12:00:00Z', ['2026-03-08T07:00Z', '2026-03-09T06:30Z']],
    ['*/30 2 * * *', '2026-03-07T12:00:00Z', ['2026-03-09T06:00Z', '2026-03-09T06:30Z']],
    ['*/30 * * * *', '2026-03-08T06:00:00Z', ['2026-03-08T06:30Z', '2026-03-08T07:00Z']],
    ['30 1 * * *', '2026-10-31T12:00:00Z', ['2026-11-01T05:30Z', '2026-11-02T06:30Z']],
    ['30 1,3 * * *', '2026-10-31T12:00:00Z', ['2026-11-01T05:30Z', '2026-11-01T06:30Z']],
  ])('%s after %s', (text, after, expected) => {
    expect(slots(text, 'America/New_York', after, 2)).toEqual(expected);
  });

  test('the slots are exactly those that a check of every minute finds', () => {
    const zone = fc.constantFrom(...zones);
    fc.assert(
      fc.property(expressions, zone, fc.constantFrom(2023, 2026), fc.nat(3), (...drawn) => {
        const [expression, zoneName, year, which] = drawn;
        const changes = clockChanges(zoneName, year);
        const change = changes[which % Math.max(changes.length, 1)] ?? Date.UTC(year, 5, 1);
        const [fromMs, toMs] = [change - 20 * hourMs, change + 20 * hourMs];
        const expected = slotsBetween(expression, zoneName, fromMs, toMs);
        const { next, latest } = schedule(expression.text, zoneName);
        const found: number[] = [];
        for (let ms = next(fromMs - 1); ms !== undefined && ms < toMs; ms = next(ms))
          found.push(ms);
        expect(found.map(iso)).toEqual(expected.map(iso));
        for (const [index, ms] of expected.slice(0, 8).entries()) {
          expect(iso(latest(ms + 999))).toBe(iso(ms));
          if (index > 0) expect(iso(latest(ms - 1))).toBe(iso(expected[index - 1]));
        }
        expect(fromMs % minuteMs).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

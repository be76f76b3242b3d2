import { expect, test } from 'vitest';
import { canonicalizeJob } from './canonicalize.ts';
import { nextLaunch } from './periodic-launch.ts';
import { webJob } from './sample.test-helper.ts';

const nowMs = Date.UTC(2026, 2, 28, 12, 0, 0);
const launchOf = (Periodic: object, changes: object = {}): string | undefined => {
  const job = canonicalizeJob({ ...webJob, Type: 'batch', Periodic, ...changes });
  const launchMs = nextLaunch(job, nowMs);
  return launchMs === undefined ? undefined : new Date(launchMs).toISOString();
};

test.each<[string, object, string | undefined]>([
  ['a time of the day', { Spec: '30 4 * * *' }, '2026-03-29T04:30:00.000Z'],
  ['the earliest of several', { Specs: ['@weekly', '0 13 * * *'] }, '2026-03-28T13:00:00.000Z'],
  ['seconds', { Specs: ['15 * * * * *'] }, '2026-03-28T12:00:15.000Z'],
  ['another zone', { Specs: ['0 9 * * *'], TimeZone: 'Asia/Tokyo' }, '2026-03-29T00:00:00.000Z'],
  ['every so often', { Specs: ['@every 1h30m'] }, '2026-03-28T13:30:00.000Z'],
  ['disabled', { Specs: ['@daily'], Enabled: false }, undefined],
  ['a day that never comes', { Specs: ['0 0 31 2 *'] }, undefined],
])('%s', (_, periodic, expected) => {
  expect(launchOf(periodic)).toBe(expected);
});

test('one that is stopped, or is to be dispatched, is not launched', () => {
  expect(launchOf({ Specs: ['@daily'] }, { Stop: true })).toBeUndefined();
  expect(launchOf({ Specs: ['@daily'] }, { ParameterizedJob: {} })).toBeUndefined();
  expect(nextLaunch(canonicalizeJob(webJob), nowMs)).toBeUndefined();
});

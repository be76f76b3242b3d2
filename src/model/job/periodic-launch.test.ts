import { expect, test } from 'vitest';
import { canonicalizeJob } from './canonicalize.ts';
import type { Job } from './job.ts';
import { isLaunching, latestLaunch, launchId, nextLaunch, settledMs } from './periodic-launch.ts';

const job = (periodic: object, changes: Partial<Job> = {}): Job => ({
  ...canonicalizeJob({ ID: 'nightly', Type: 'batch', Periodic: periodic }),
  ...changes,
});
const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);
const text = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(11, 19);

const parameterized = canonicalizeJob({ ParameterizedJob: {} }).ParameterizedJob;
const hourly = { Specs: ['@hourly'] };

test.each([
  ['an enabled job', job(hourly), true],
  ['a disabled job', job({ ...hourly, Enabled: false }), false],
  ['a stopped job', job(hourly, { Stop: true }), false],
  ['a parameterized job', job(hourly, { ParameterizedJob: parameterized }), false],
  [
    'its dispatched child',
    job(hourly, { ParameterizedJob: parameterized, Dispatched: true }),
    true,
  ],
  ['a job that is not periodic', job(hourly, { Periodic: null }), false],
])('%s', (_title, one, launches) => {
  expect(isLaunching(one)).toBe(launches);
  expect(nextLaunch(one, at('00:00:00')) !== undefined).toBe(launches);
});

test.each([
  [{ Specs: ['*/20 * * * *', '*/15 * * * *'] }, '00:15:00', '01:00:00'],
  [{ Spec: '10 * * * *' }, '00:10:00', '00:10:00'],
  [{ Specs: ['@every 7m', '59 * * * *'] }, '00:07:00', '00:59:00'],
  [{ Specs: ['0 5 * * *'] }, '05:00:00', undefined],
  [{ Specs: ['0 5 * * *'], TimeZone: 'Asia/Kolkata' }, '23:30:00', undefined],
])(
  'the next slot of %j is at %s, and the last before one o’clock at %s',
  (periodic, next, latest) => {
    expect(text(nextLaunch(job(periodic), at('00:00:00')))).toBe(next);
    expect(text(latestLaunch(job(periodic), at('00:00:00'), at('01:00:00.5')))).toBe(latest);
  },
);

test('a slot is after the first instant and at or before the second', () => {
  const one = job(hourly);
  expect(text(nextLaunch(one, at('01:00:00')))).toBe('02:00:00');
  expect(text(nextLaunch(one, at('00:59:59.999')))).toBe('01:00:00');
  expect(latestLaunch(one, at('01:00:00'), at('01:59:59.999'))).toBeUndefined();
  expect(text(latestLaunch(one, at('00:59:59.999'), at('01:00:00')))).toBe('01:00:00');
});

test('asking again, and for an earlier slot, gives the same answers', () => {
  const one = job({ Specs: ['*/5 * * * *'] });
  const times = ['00:07:00', '00:09:59', '00:10:00', '00:01:00', '00:07:00', '23:59:59'];
  const asked = times.map((time) => text(nextLaunch(one, at(time))));
  expect(asked).toEqual(['00:10:00', '00:10:00', '00:15:00', '00:05:00', '00:10:00', '00:00:00']);
});

test('without a noted launch, slots before the submission are settled', () => {
  const one = job(hourly, { SubmitTime: at('03:00:00') * 1e6 });
  expect(settledMs(one, undefined)).toBe(at('03:00:00'));
  const launch = { JobID: 'x', Namespace: 'default', Launch: at('05:00:00') * 1e6 };
  expect(settledMs(one, { ...launch, CreateIndex: 1, ModifyIndex: 1 })).toBe(at('05:00:00'));
});

test('a launched job is named after the second', () => {
  expect(launchId('a/b', 1_767_225_600_900)).toBe('a/b/periodic-1767225600');
});

import { expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { crashTest } from './crash.ts';
import { after, type Entry, type JobState, judge, type Write } from './ledger.ts';
import { compiler } from './power-cut.ts';

const first: JobState = { marker: 'a', version: 0, stopped: false, jobModifyIndex: 10 };
const second: JobState = { marker: 'b', version: 1, stopped: false, jobModifyIndex: 12 };
const register: Write = { kind: 'register', marker: 'b' };

const verdicts: [string, Partial<Entry>, JobState | undefined, string][] = [
  ['an acknowledged write is there', { state: first }, first, 'acknowledged'],
  ['an acknowledged write is lost', { state: second }, first, 'fault'],
  ['an acknowledged job is gone', { state: first }, undefined, 'fault'],
  ['a purged job is back', {}, first, 'fault'],
  ['a write under way is not there', { state: first, pending: register }, first, 'acknowledged'],
  ['a write under way is there', { state: first, pending: register }, second, 'pending'],
  [
    'it is there under an old index',
    { state: first, pending: register },
    { ...second, jobModifyIndex: 10 },
    'fault',
  ],
  ['half of it is there', { state: first, pending: register }, { ...first, version: 1 }, 'fault'],
  [
    'a first write under way is there',
    { pending: { kind: 'register', marker: 'a' } },
    first,
    'pending',
  ],
  [
    'a purge under way took the job',
    { state: first, pending: { kind: 'purge' } },
    undefined,
    'pending',
  ],
  [
    'a stop under way stopped it',
    { state: first, pending: { kind: 'stop' } },
    after(first, { kind: 'stop' }, 11),
    'pending',
  ],
  ['a repetition changed it', { state: first, pending: { kind: 'repeat' } }, second, 'fault'],
];

test.each(verdicts)('%s', (_, entry, found, expected) => {
  const whole = { state: undefined, pending: undefined, evaluations: [], ...entry };
  const verdict = judge(whole, found);
  expect('fault' in verdict ? 'fault' : verdict.outcome).toBe(expected);
});

const options = { ...needing(compiler), timeout: 240_000 };

test('acknowledged writes survive kills and power cuts under load', options, async () => {
  const report = await crashTest({ kills: 8, seed: 1, power: 'cut', progress: () => {} });
  expect(report.faults).toEqual([]);
  expect(report.kills).toBe(8);
  expect(report.killsWhileStarting).toBe(1);
  expect(report.acknowledged).toBeGreaterThan(100);
  expect(report.runningTasks).toBeGreaterThan(0);
  expect(report.lostSectors).toBeGreaterThan(0);
});

test('power cuts after a disk that lies about its syncs are found', options, async () => {
  const report = await crashTest({
    kills: 3,
    seed: 1,
    power: 'cut after lies',
    progress: () => {},
  });
  expect(report.faults).not.toEqual([]);
});

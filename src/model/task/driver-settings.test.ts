import { describe, expect, test } from 'vitest';
import { canonicalizeJob } from '../job/canonicalize.ts';
import { destructiveChange } from '../job/destructive-change.ts';
import type { Job } from '../job/job.ts';
import { isSameSpecification, registeredJob } from '../job/job-change.ts';
import { webJobWith } from '../job/sample.test-helper.ts';
import { compareJobs } from '../job-diff/compare-jobs.ts';
import { settingsAsText } from './driver-settings.ts';

describe('settings of drivers that are text', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['exec', { command: 'x', args: ['-p', 80, true, 1.5] }, { args: ['-p', '80', 'true', '1.5'] }],
    ['raw_exec', { args: [1] }, { args: ['1'] }],
    ['java', { jvm_options: [1], args: [false] }, { jvm_options: ['1'], args: ['false'] }],
    ['docker', { labels: { port: 80 }, ulimit: [{ nofile: 9 }] }, { labels: { port: '80' } }],
    // Other settings are not changed.
    ['exec', { pids_limit: 5, args: ['a'] }, { pids_limit: 5, args: ['a'] }],
    ['mock', { run_for: 5, args: [1] }, { run_for: 5, args: [1] }],
  ])('%s %j', (driver, config, expected) => {
    expect(settingsAsText(driver, config)).toMatchObject(expected);
  });

  test('are the same object if they are text already', () => {
    const config = { command: 'x', args: ['a'], labels: { a: 'b' } };
    expect(settingsAsText('docker', config)).toBe(config);
    expect(settingsAsText('exec', null)).toBe(null);
  });
});

describe('a job that was stored with numbers among its arguments', () => {
  const given = webJobWith({
    'TaskGroups.0.Tasks.0.Config': { command: 'x', args: ['-p', 80] },
    'TaskGroups.0.Tasks.0.Env': { A: '1' },
  });
  const now = canonicalizeJob(given);
  const [group] = now.TaskGroups;
  const stored: Job = {
    ...now,
    Version: 3,
    TaskGroups: [
      {
        ...group!,
        Tasks: [{ ...group!.Tasks[0]!, Config: { command: 'x', args: ['-p', 80] } }],
      },
    ],
  };

  test('is the same job when its file is registered again', () => {
    expect(now.TaskGroups[0]!.Tasks[0]!.Config).toEqual({ command: 'x', args: ['-p', '80'] });
    expect(isSameSpecification(stored, now)).toBe(true);
    expect(registeredJob(stored, now, { preserveCounts: false, preserveResources: false })).toBe(
      stored,
    );
  });

  test('and its running allocations stay', () => {
    expect(destructiveChange(stored, now, 'web')).toBeUndefined();
    expect(destructiveChange(stored, { ...now, Priority: 60 }, 'web')).toBeUndefined();
    const other = canonicalizeJob(
      webJobWith({ 'TaskGroups.0.Tasks.0.Config': { command: 'x', args: ['-p', 81] } }),
    );
    expect(destructiveChange(stored, other, 'web')).toMatch('server');
  });

  test('and a plan shows no difference', () => {
    expect(compareJobs(stored, now).Type).toBe('None');
  });
});

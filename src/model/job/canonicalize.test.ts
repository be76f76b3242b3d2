import { describe, expect, test } from 'vitest';
import { canonicalizeJob, canonicalizeJobSteps } from './canonicalize.ts';
import type { Job, JobInput } from './job.ts';
import { webJob, webJobWith } from './sample.test-helper.ts';
import { validateJobSteps } from './validate.ts';

const second = 1e9;
const minute = 60 * second;
const hour = 60 * minute;

/** The value at a path of the canonical sample with changes. */
function canonical(changes: Record<string, unknown>, path: string): unknown {
  let value: unknown = canonicalizeJob(webJobWith(changes));
  for (const key of path.split('.')) value = (value as Record<string, unknown>)[key];
  return value;
}
const group = (job: JobInput): Job['TaskGroups'][number] => canonicalizeJob(job).TaskGroups[0]!;

describe('defaults of the job', () => {
  test.each([
    ['Name', {}, 'web'],
    ['Name', { Name: 'site' }, 'site'],
    ['Region', {}, 'global'],
    ['Namespace', {}, 'default'],
    ['Type', { Type: '' }, 'service'],
    ['Priority', { Priority: 0 }, 50],
    ['Datacenters', {}, ['*']],
    ['Datacenters', { Datacenters: [] }, ['*']],
    ['NodePool', {}, 'default'],
    ['Constraints', { Constraints: [] }, null],
    ['Meta', { Meta: {} }, null],
    ['Payload', {}, null],
    ['Migrate', { Migrate: { MaxParallel: 2 } }, null],
    ['Reschedule', { Reschedule: { Attempts: 2 } }, null],
    ['RegistryToken', { RegistryToken: 'secret' }, ''],
    [
      'Periodic',
      { Periodic: { Specs: ['@daily'] } },
      {
        Enabled: true,
        Spec: '',
        Specs: ['@daily'],
        SpecType: 'cron',
        ProhibitOverlap: false,
        TimeZone: 'UTC',
      },
    ],
    [
      'ParameterizedJob',
      { ParameterizedJob: {} },
      { Payload: 'optional', MetaRequired: null, MetaOptional: null },
    ],
    ['SubmitTime', {}, null],
    ['Status', {}, 'pending'],
  ])('%s of %j', (path, changes, expected) => {
    expect(canonical(changes, path)).toEqual(expected);
  });

  test('the defaults of the agent', () => {
    const job = canonicalizeJob({ ID: 'x' }, { region: 'eu', namespace: 'team' });
    expect([job.Region, job.Namespace]).toEqual(['eu', 'team']);
  });
});

describe('update strategies', () => {
  const stored = {
    HealthCheck: '',
    MinHealthyTime: 0,
    HealthyDeadline: 0,
    ProgressDeadline: 0,
    AutoRevert: false,
    AutoPromote: false,
    Canary: 0,
  };

  test('a group has the defaults, the job keeps two fields', () => {
    const job = canonicalizeJob(webJob);
    expect(job.TaskGroups[0]!.Update).toEqual({
      Stagger: 30 * second,
      MaxParallel: 1,
      HealthCheck: 'checks',
      MinHealthyTime: 10 * second,
      HealthyDeadline: 5 * minute,
      ProgressDeadline: 10 * minute,
      AutoRevert: false,
      AutoPromote: false,
      Canary: 0,
    });
    expect(job.Update).toEqual({ Stagger: 30 * second, MaxParallel: 1, ...stored });
  });

  test("a group's fields override the job's", () => {
    const job = webJobWith({
      Update: { MaxParallel: 3, Canary: 1 },
      'TaskGroups.0.Update': { Canary: 2 },
    });
    expect(group(job).Update).toMatchObject({ MaxParallel: 3, Canary: 2, HealthCheck: 'checks' });
  });

  test('no update block with MaxParallel 0, which stays in the job that is sent back', () => {
    const job = canonicalizeJob(webJobWith({ Update: { MaxParallel: 0 } }));
    expect(job.TaskGroups[0]!.Update!.MaxParallel).toBe(0);
    expect(job.Update).toEqual({ Stagger: 0, MaxParallel: 0, ...stored });
    const added = canonicalizeJob({ ...job, TaskGroups: [...job.TaskGroups, { Name: 'new' }] });
    expect(added.TaskGroups[1]!.Update).toMatchObject({ MaxParallel: 0, HealthCheck: 'checks' });
  });

  test.each([
    ['batch', null],
    ['sysbatch', null],
    ['system', expect.objectContaining({ MaxParallel: 1 })],
  ])('%s', (type, expected) => {
    expect(canonical({ Type: type }, 'TaskGroups.0.Update')).toEqual(expected);
  });
});

describe('defaults of a group', () => {
  test.each([
    ['Count', { 'TaskGroups.0.Count': undefined }, 1],
    ['Count', { 'TaskGroups.0.Count': undefined, 'TaskGroups.0.Scaling': { Min: 2, Max: 4 } }, 2],
    ['Count', { 'TaskGroups.0.Count': 0 }, 0],
    ['EphemeralDisk', {}, { Sticky: false, Migrate: false, SizeMB: 300 }],
    [
      'RestartPolicy',
      {},
      {
        Attempts: 2,
        Interval: 30 * minute,
        Delay: 15 * second,
        Mode: 'fail',
        RenderTemplates: false,
      },
    ],
    [
      'RestartPolicy',
      { Type: 'sysbatch' },
      {
        Attempts: 3,
        Interval: 24 * hour,
        Delay: 15 * second,
        Mode: 'fail',
        RenderTemplates: false,
      },
    ],
    [
      'ReschedulePolicy',
      {},
      {
        Attempts: 0,
        Interval: 0,
        Delay: 30 * second,
        DelayFunction: 'exponential',
        MaxDelay: hour,
        Unlimited: true,
      },
    ],
    [
      'ReschedulePolicy',
      { Type: 'batch' },
      {
        Attempts: 1,
        Interval: 24 * hour,
        Delay: 5 * second,
        DelayFunction: 'constant',
        MaxDelay: 0,
        Unlimited: false,
      },
    ],
    ['ReschedulePolicy', { Type: 'system' }, null],
    ['ReschedulePolicy.Attempts', { Reschedule: { Attempts: 3 } }, 3],
    [
      'Migrate',
      { Migrate: { MaxParallel: 4 } },
      {
        MaxParallel: 4,
        HealthCheck: 'checks',
        MinHealthyTime: 10 * second,
        HealthyDeadline: 5 * minute,
      },
    ],
    ['Migrate', { Type: 'batch' }, null],
    [
      'Disconnect',
      { 'TaskGroups.0.Disconnect': {} },
      { LostAfter: 0, StopOnClientAfter: null, Replace: true, Reconcile: 'best_score' },
    ],
    ['Scaling.Min', { 'TaskGroups.0.Scaling': { Max: 9 } }, 3],
    [
      'Scaling.Target',
      { 'TaskGroups.0.Scaling': { Max: 9 } },
      { Namespace: 'default', Job: 'web', Group: 'web' },
    ],
    ['Volumes.data.Name', { 'TaskGroups.0.Volumes': { data: { Source: 'x' } } }, 'data'],
    ['ShutdownDelay', {}, null],
  ])('%s of %j', (path, changes, expected) => {
    expect(canonical(changes, `TaskGroups.0.${path}`)).toEqual(expected);
  });
});

describe('defaults of a task', () => {
  const task = 'TaskGroups.0.Tasks.0';
  test.each([
    ['KillTimeout', {}, 5 * second],
    [
      'Resources',
      { [`${task}.Resources`]: undefined },
      {
        CPU: 100,
        Cores: 0,
        MemoryMB: 300,
        MemoryMaxMB: 0,
        DiskMB: 0,
        IOPS: 0,
        SecretsMB: 0,
        Devices: null,
        Networks: null,
        NUMA: null,
      },
    ],
    ['Resources.CPU', { [`${task}.Resources`]: { Cores: 2 } }, 0],
    [
      'LogConfig',
      { [`${task}.LogConfig`]: undefined },
      { Disabled: false, MaxFiles: 10, MaxFileSizeMB: 10 },
    ],
    ['RestartPolicy.Attempts', { 'TaskGroups.0.RestartPolicy': { Attempts: 7 } }, 7],
    [
      'RestartPolicy.Attempts',
      { 'TaskGroups.0.RestartPolicy': { Attempts: 7 }, [`${task}.RestartPolicy`]: { Attempts: 9 } },
      9,
    ],
    ['Lifecycle', { [`${task}.Lifecycle`]: { Hook: '' } }, null],
    [
      'Lifecycle',
      { [`${task}.Lifecycle`]: { Hook: 'prestart' } },
      { Hook: 'prestart', Sidecar: false },
    ],
    [
      'Artifacts.0.RelativeDest',
      { [`${task}.Artifacts`]: [{ GetterSource: 'http://h/a.tgz?x=1' }] },
      'local/',
    ],
    [
      'Artifacts.0.RelativeDest',
      { [`${task}.Artifacts`]: [{ GetterSource: 'http://h/a.tgz?x=1', GetterMode: 'file' }] },
      'local/a.tgz',
    ],
    ['Templates.0.ChangeSignal', { [`${task}.Templates`]: [{}] }, ''],
    ['Templates.0.ChangeSignal', { [`${task}.Templates`]: [{ ChangeMode: 'signal' }] }, 'SIGHUP'],
    [
      'Templates.0.ChangeSignal',
      { [`${task}.Templates`]: [{ ChangeSignal: 'sigusr1' }] },
      'SIGUSR1',
    ],
    ['Templates.0.Perms', { [`${task}.Templates`]: [{}] }, '0644'],
    ['Services.0.Name', { [`${task}.Services`]: [{}] }, 'web-web-server'],
    ['Services.0.Name', { [`${task}.Services`]: [{ Name: `\${JOB}-\${TASK}-x` }] }, 'web-server-x'],
    ['Services.0.TaskName', { [`${task}.Services`]: [{}] }, 'server'],
    ['Services.0.Provider', { [`${task}.Services`]: [{}] }, 'registry'],
    [
      'Services.0.Checks.0.Name',
      { [`${task}.Services`]: [{ Name: 'api', Checks: [{}] }] },
      'service: "api" check',
    ],
    [
      'Services.0.Checks.0.CheckRestart',
      {
        [`${task}.Services`]: [
          { CheckRestart: { Limit: 3 }, Checks: [{ CheckRestart: { Grace: 5 } }] },
        ],
      },
      { Limit: 3, Grace: 5, IgnoreWarnings: false },
    ],
  ])('%s of %j', (path, changes, expected) => {
    expect(canonical(changes, `${task}.${path}`)).toEqual(expected);
  });

  test("a group's service is named after job and group", () => {
    expect(canonical({ 'TaskGroups.0.Services': [{}] }, 'TaskGroups.0.Services.0.Name')).toBe(
      'web-web',
    );
  });
});

test('the input is not changed', () => {
  const before = structuredClone(webJob);
  canonicalizeJob(webJob);
  expect(webJob).toEqual(before);
});

test('a job is canonicalized and checked group by group, with turns for others', () => {
  const names = Array.from({ length: 50 }, (_, at) => `group-${at}`);
  const input = {
    ID: 'large',
    TaskGroups: names.map((Name) => ({ Name, Tasks: [{ Name: 'a' }] })),
  };
  expect([...canonicalizeJobSteps(input)].length).toBeGreaterThanOrEqual(50);
  expect([...validateJobSteps(canonicalizeJob(input))].length).toBeGreaterThanOrEqual(50);
});

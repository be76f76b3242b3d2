import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalizeJob } from './canonicalize.ts';
import type { Job } from './job.ts';
import {
  isSameSpecification,
  nextVersion,
  refusedChange,
  withPreservedCounts,
} from './job-change.ts';
import { isEvaluated, type JobSurroundings, jobStatus, totalCount } from './job-rules.ts';
import { jobStub } from './job-stub.ts';
import { webJob, webJobWith } from './sample.test-helper.ts';

const web = canonicalizeJob(webJob);
const quiet: JobSurroundings = {
  hasActiveDeployment: false,
  hasLiveAllocation: false,
  hasOpenEvaluation: false,
  everEvaluated: false,
};
const periodic = canonicalizeJob({ Periodic: { Specs: ['@daily'] } }).Periodic;
const parameterized = canonicalizeJob({ ParameterizedJob: {} }).ParameterizedJob;

describe('the status of a job', () => {
  test.each<[string, Partial<Job>, Partial<JobSurroundings>, string]>([
    ['a system job', { Type: 'system' }, {}, 'running'],
    ['a system job, stopped', { Type: 'system', Stop: true }, { hasLiveAllocation: true }, 'dead'],
    ['a periodic job', { Periodic: periodic }, {}, 'running'],
    ['a periodic job, stopped', { Periodic: periodic, Stop: true }, {}, 'dead'],
    ['a parameterized job', { ParameterizedJob: parameterized }, {}, 'running'],
    ['a dispatched child', { ParameterizedJob: parameterized, Dispatched: true }, {}, 'pending'],
    ['an active deployment', {}, { hasActiveDeployment: true, everEvaluated: true }, 'running'],
    [
      'a live allocation',
      { Stop: true },
      { hasLiveAllocation: true, hasOpenEvaluation: true },
      'running',
    ],
    ['an open evaluation', { Stop: true }, { hasOpenEvaluation: true }, 'pending'],
    ['stopped', { Stop: true }, {}, 'dead'],
    ['all over', {}, { everEvaluated: true }, 'dead'],
    [
      'a sysbatch job whose allocations have ended',
      { Type: 'sysbatch' },
      { everEvaluated: true },
      'dead',
    ],
    ['brand-new', {}, {}, 'pending'],
  ])('%s', (_, job, surroundings, status) => {
    expect(jobStatus({ ...web, ...job }, { ...quiet, ...surroundings })).toBe(status);
  });

  test('only a job that runs itself is evaluated', () => {
    expect(isEvaluated(web)).toBe(true);
    expect(isEvaluated({ ...web, Periodic: periodic })).toBe(false);
    expect(isEvaluated({ ...web, ParameterizedJob: parameterized })).toBe(false);
    expect(isEvaluated({ ...web, ParameterizedJob: parameterized, Dispatched: true })).toBe(true);
  });
});

describe('versions', () => {
  const stored: Job = {
    ...web,
    Version: 4,
    Status: 'running',
    Stable: true,
    CreateIndex: 3,
    ModifyIndex: 9,
    JobModifyIndex: 5,
    SubmitTime: 1,
  };

  test('a difference in fields of the server is not a change', () => {
    expect(isSameSpecification(stored, web)).toBe(true);
  });

  test.each<[string, Partial<Job>]>([
    ['Stop', { Stop: true }],
    ['SchedulerTokenID', { SchedulerTokenID: 'other' }],
    ['Meta', { Meta: { a: 'b' } }],
    ['the groups', { TaskGroups: [] }],
  ])('%s is', (_, change) => {
    expect(isSameSpecification(stored, { ...web, ...change })).toBe(false);
  });

  test('empty lists and another order of keys are no change', () => {
    const respelled = webJobWith({
      Constraints: [],
      Meta: {},
      'TaskGroups.0.Tasks.0.Config': { args: ['server.mjs'], command: 'node' },
    });
    expect(isSameSpecification(stored, canonicalizeJob(respelled))).toBe(true);
  });

  test('a job that was read can be sent back', () => {
    expect(isSameSpecification(stored, canonicalizeJob(stored))).toBe(true);
  });

  test.each([
    [undefined, 0, 0],
    [undefined, 7, 7],
    [stored, 0, 5],
    [stored, 4, 5],
    [stored, 5, 5],
    [stored, 9, 9],
  ])('stored %j, submitted %i: %i', (job, submitted, next) => {
    expect(nextVersion(job, submitted)).toBe(next);
  });
});

describe('refused changes', () => {
  test.each<[string, Job | undefined, Job, string | undefined]>([
    ['new', undefined, web, undefined],
    [
      'a new job that claims to be dispatched',
      undefined,
      { ...web, Dispatched: true },
      'only a dispatch makes a dispatched job',
    ],
    ['the same', web, web, undefined],
    ['type', web, { ...web, Type: 'batch' }, 'its type is service and cannot become batch'],
    ['becomes periodic', web, { ...web, Periodic: periodic }, 'it cannot become periodic'],
    ['no longer periodic', { ...web, Periodic: periodic }, web, 'it must stay periodic'],
    [
      'becomes parameterized',
      web,
      { ...web, ParameterizedJob: parameterized },
      'it cannot become parameterized',
    ],
    ['dispatched', web, { ...web, Dispatched: true }, 'only a dispatch makes a dispatched job'],
    [
      'several at once',
      { ...web, Periodic: periodic },
      { ...web, Type: 'batch', ParameterizedJob: parameterized },
      'its type is service and cannot become batch, and it must stay periodic, and it cannot become parameterized',
    ],
  ])('%s', (_, stored, submitted, reason) => {
    expect(refusedChange(stored, submitted)).toBe(reason);
  });
});

test('counts are preserved by the name of the group', () => {
  const group = web.TaskGroups[0]!;
  const submitted = {
    ...web,
    TaskGroups: [
      { ...group, Count: 9 },
      { ...group, Name: 'new', Count: 2 },
    ],
  };
  const counts = withPreservedCounts(web, submitted).TaskGroups.map(({ Count }) => Count);
  expect(counts).toEqual([3, 2]);
  expect(totalCount(submitted)).toBe(11);
});

test('a stub has Meta only when asked', () => {
  const job = { ...web, Meta: { owner: 'x' }, Periodic: periodic };
  expect(jobStub(job, null)).toMatchObject({ ID: 'web', Periodic: true, ParameterizedJob: false });
  expect(Object.keys(jobStub(job, null))).not.toContain('Meta');
  expect(jobStub(job, null, true).Meta).toEqual({ owner: 'x' });
});

test('a specification is the same as itself after a trip through JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const job = canonicalizeJob({ ...webJob, Meta: { x: JSON.stringify(value) } });
      expect(isSameSpecification(job, JSON.parse(JSON.stringify(job)))).toBe(true);
    }),
  );
});

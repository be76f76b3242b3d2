import { expect, test } from 'vitest';
import { complete } from '../complete.ts';
import { type Job, type JobInput, JobSchema } from '../job/job.ts';
import { webJobWith } from '../job/sample.test-helper.ts';
import { deploymentDescriptions } from './descriptions.ts';
import { failureDescription, rollbackOf } from './rollback.ts';

const greeting = (text: string) => ({ 'TaskGroups.0.Tasks.0.Env.GREETING': text });

const version = (Version: number, Stable: boolean, greets: string, fields: JobInput = {}): Job =>
  complete(JobSchema, {
    ...webJobWith(greeting(greets)),
    Version,
    Stable,
    CreateIndex: 7,
    ...fields,
  } as JobInput);

const current = version(4, false, 'bad');
const { unhealthy } = deploymentDescriptions;

test.each<[string, Job[], number | undefined, string]>([
  [
    'the highest stable version',
    [version(0, true, 'old'), version(2, true, 'good'), version(3, false, 'unknown'), current],
    2,
    'Failed due to unhealthy allocations - rolling back to job version 2',
  ],
  [
    'the highest stable version, in any order of versions',
    [version(2, true, 'good'), version(0, true, 'old')],
    2,
    'Failed due to unhealthy allocations - rolling back to job version 2',
  ],
  [
    'no version without a stable version',
    [version(2, false, 'good'), current],
    undefined,
    'Failed due to unhealthy allocations - no stable job version to auto revert to',
  ],
  [
    'no version of an earlier registration',
    [version(2, true, 'good', { CreateIndex: 3 }), current],
    undefined,
    'Failed due to unhealthy allocations - no stable job version to auto revert to',
  ],
  [
    'no version that was a stop',
    [version(1, true, 'good'), version(2, true, 'good', { Stop: true }), current],
    1,
    'Failed due to unhealthy allocations - rolling back to job version 1',
  ],
  [
    'no version with the same specification',
    [version(2, true, 'bad'), current],
    undefined,
    'Failed due to unhealthy allocations - not rolling back to stable job version 2 as current job has same specification',
  ],
  [
    'no version that differs only in its submitter and tag',
    [
      version(2, true, 'bad', {
        SchedulerTokenID: 'another',
        VersionTag: { Name: 'good', Description: '', TaggedTime: 1 },
      }),
      current,
    ],
    undefined,
    'Failed due to unhealthy allocations - not rolling back to stable job version 2 as current job has same specification',
  ],
])('a failed deployment rolls back to %s', (_name, versions, target, sentence) => {
  const rollback = rollbackOf(current, versions);
  expect(rollback.kind === 'to' ? rollback.target.Version : undefined).toBe(target);
  expect(failureDescription(unhealthy, rollback)).toBe(sentence);
});

test('without AutoRevert the description names no rollback', () => {
  expect(failureDescription(deploymentDescriptions.markedFailed, undefined)).toBe(
    'Deployment marked as failed',
  );
});

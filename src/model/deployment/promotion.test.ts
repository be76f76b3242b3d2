import { describe, expect, test } from 'vitest';
import { type Allocation, AllocationSchema } from '../allocation/allocation.ts';
import { complete } from '../complete.ts';
import type { Input } from '../schema.ts';
import { groupsToPromote, promoted, promotesItself, shortfalls } from './promotion.ts';
import { sampleDeployment, sampleGroup, startMs } from './sample.test-helper.ts';

const deployment = sampleDeployment({ DesiredCanaries: 2, AutoPromote: true });

const canary = (fields: Input<Allocation> = {}, Healthy: boolean | null = true): Allocation =>
  complete(AllocationSchema, {
    TaskGroup: 'web',
    DeploymentID: deployment.ID,
    DeploymentStatus: { Canary: true, Healthy },
    ...fields,
  });

describe('the healthy canaries of a group that wants two', () => {
  test.each<[string, Allocation[], number]>([
    ['no canary', [], 0],
    ['two healthy canaries', [canary(), canary()], 2],
    ['a canary without a report', [canary(), canary({}, null)], 1],
    ['an unhealthy canary', [canary(), canary({}, false)], 1],
    ['a canary that is to stop', [canary(), canary({ DesiredStatus: 'stop' })], 1],
    ['a failed canary', [canary(), canary({ ClientStatus: 'failed' })], 1],
    ['a canary of another deployment', [canary(), canary({ DeploymentID: 'other' })], 1],
    ['a canary of another group', [canary(), canary({ TaskGroup: 'other' })], 1],
    [
      'an allocation that is not a canary',
      [canary(), canary({ DeploymentStatus: { Healthy: true } })],
      1,
    ],
  ])('%s', (_name, allocations, have) => {
    const lacking = have < 2 ? [{ group: 'web', have, need: 2 }] : [];
    expect(shortfalls(deployment, ['web'], allocations)).toEqual(lacking);
    expect(promotesItself(deployment, allocations)).toBe(have === 2);
  });
});

test('a deployment promotes itself only if every group with canaries asks for it', () => {
  const groups = { web: deployment.TaskGroups.web!, plain: sampleGroup() };
  const all = [canary(), canary()];
  expect(promotesItself({ ...deployment, TaskGroups: groups }, all)).toBe(true);
  const byHand = sampleGroup({ DesiredCanaries: 1 });
  const mixed = { ...deployment, TaskGroups: { ...groups, byHand } };
  expect(promotesItself(mixed, all)).toBe(false);
  expect(promotesItself(sampleDeployment(), [])).toBe(false);
});

test('promotion of a group leaves the others, and restarts its deadline', () => {
  const both = {
    ...deployment,
    TaskGroups: {
      web: sampleGroup({ DesiredCanaries: 1, RequireProgressBy: '2026-01-01T00:01:00Z' }),
      other: sampleGroup({ DesiredCanaries: 1 }),
    },
  };
  expect(groupsToPromote(both)).toEqual(['web', 'other']);
  const first = promoted(both, ['web'], startMs);
  expect(first.TaskGroups.web).toMatchObject({
    Promoted: true,
    RequireProgressBy: '2026-01-01T00:10:00Z',
  });
  expect(first.TaskGroups.other).toBe(both.TaskGroups.other);
  expect(first.StatusDescription).toBe('Deployment is running but requires manual promotion');
  const second = promoted(first, ['other'], startMs);
  expect(groupsToPromote(second)).toEqual([]);
  expect(second.StatusDescription).toBe('Deployment is running');
});

test('a paused deployment stays paused', () => {
  const rests = { ...deployment, Status: 'paused', StatusDescription: 'Deployment is paused' };
  const after = promoted(rests as typeof deployment, ['web'], startMs);
  expect(after).toMatchObject({ Status: 'paused', StatusDescription: 'Deployment is paused' });
  expect(after.TaskGroups.web!.Promoted).toBe(true);
});

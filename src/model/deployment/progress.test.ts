import { expect, test } from 'vitest';
import type { DeploymentGroup } from './deployment.ts';
import { type Health, nextDeadlineMs, overdueGroups, withHealth } from './progress.ts';
import { sampleDeployment, sampleGroup, startMs } from './sample.test-helper.ts';

const at = (minutes: number): string =>
  new Date(startMs + minutes * 60_000).toISOString().replace('.000', '');

test.each<[string, Health, Health, Partial<DeploymentGroup>]>([
  ['turns healthy', null, true, { HealthyAllocs: 2, RequireProgressBy: at(10) }],
  ['turns unhealthy', null, false, { UnhealthyAllocs: 1 }],
  ['was healthy and no longer is', true, false, { HealthyAllocs: 0, UnhealthyAllocs: 1 }],
  ['recovers and stays counted as unhealthy', false, true, {}],
  ['reports the same again', true, true, {}],
  ['says nothing', null, null, {}],
  ['no longer reports', true, null, {}],
])('an allocation that %s', (_name, was, is, changed) => {
  const group = sampleGroup({ HealthyAllocs: 1, RequireProgressBy: at(3) });
  expect(withHealth(group, was, is, startMs)).toEqual({ ...group, ...changed });
});

test('without a deadline no time begins', () => {
  const group = sampleGroup({ ProgressDeadline: 0 });
  expect(withHealth(group, null, true, startMs).RequireProgressBy).toBeNull();
});

const due = { RequireProgressBy: at(5) };
test.each<[string, Partial<DeploymentGroup>, boolean]>([
  ['that lacks allocations', { HealthyAllocs: 2 }, true],
  ['that has all allocations', { HealthyAllocs: 3 }, false],
  ['without an allocation', { RequireProgressBy: null }, false],
  ['whose canaries are not healthy yet', { DesiredCanaries: 2, HealthyAllocs: 1 }, true],
  ['whose canaries wait for promotion', { DesiredCanaries: 2, HealthyAllocs: 2 }, false],
  ['whose canaries are promoted', { DesiredCanaries: 2, HealthyAllocs: 2, Promoted: true }, true],
  [
    'with more canaries than allocations',
    { DesiredCanaries: 4, HealthyAllocs: 3, Promoted: true },
    true,
  ],
])('the clock runs against a group %s: %j %s', (_name, fields, runs) => {
  const deployment = sampleDeployment({ ...due, ...fields });
  expect(nextDeadlineMs(deployment)).toBe(runs ? startMs + 300_000 : undefined);
  expect(overdueGroups(deployment, startMs + 299_999)).toEqual([]);
  expect(overdueGroups(deployment, startMs + 300_000)).toEqual(runs ? ['web'] : []);
});

test('the earliest deadline counts', () => {
  const deployment = {
    ...sampleDeployment(),
    TaskGroups: {
      slow: sampleGroup({ RequireProgressBy: at(9) }),
      fast: sampleGroup({ RequireProgressBy: at(4) }),
    },
  };
  expect(nextDeadlineMs(deployment)).toBe(startMs + 240_000);
  expect(overdueGroups(deployment, startMs + 300_000)).toEqual(['fast']);
});

test.each(['paused', 'blocked', 'successful', 'failed', 'cancelled'] as const)(
  'nothing is overdue while the deployment is %s',
  (Status) => {
    const deployment = sampleDeployment(due, { Status });
    expect(nextDeadlineMs(deployment)).toBeUndefined();
    expect(overdueGroups(deployment, startMs + 3_600_000)).toEqual([]);
  },
);

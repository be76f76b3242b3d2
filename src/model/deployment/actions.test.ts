import { describe, expect, test } from 'vitest';
import { type DeploymentAction, paused, refusedAction, resumed } from './actions.ts';
import { type DeploymentStatus, deploymentStatuses } from './deployment.ts';
import { runningDescription } from './descriptions.ts';
import { sampleDeployment, sampleGroup, startMs } from './sample.test-helper.ts';

test.each<[DeploymentAction, readonly DeploymentStatus[]]>([
  ['fail', ['initializing', 'pending', 'running', 'paused', 'blocked', 'unblocking']],
  ['pause', ['running', 'paused']],
  ['resume', ['running', 'paused']],
  ['promote', ['running', 'paused']],
  ['unblock', ['blocked']],
  ['set-health', ['initializing', 'pending', 'running', 'paused', 'blocked', 'unblocking']],
])('%s is possible if the status is one of %j', (action, taking) => {
  const possible = deploymentStatuses.filter(
    (Status) => refusedAction({ Status }, action) === undefined,
  );
  expect(possible).toEqual(taking.toSorted(byOrder));
});

const byOrder = (left: DeploymentStatus, right: DeploymentStatus): number =>
  deploymentStatuses.indexOf(left) - deploymentStatuses.indexOf(right);

test.each<[DeploymentAction, DeploymentStatus, string]>([
  ['fail', 'failed', 'it is over: its status is failed'],
  ['promote', 'cancelled', 'it is over: its status is cancelled'],
  ['unblock', 'running', 'its status is running, and has to be blocked'],
  ['pause', 'blocked', 'its status is blocked, and has to be running or paused'],
])('%s of a deployment that is %s is refused: %s', (action, Status, reason) => {
  expect(refusedAction({ Status }, action)).toBe(reason);
});

describe('pause and resume', () => {
  const RequireProgressBy = '2026-01-01T00:05:00Z';

  test('restart the deadline of groups that have begun', () => {
    const deployment = {
      ...sampleDeployment({ RequireProgressBy }),
      TaskGroups: { web: sampleGroup({ RequireProgressBy }), later: sampleGroup() },
    };
    const rests = paused(deployment, startMs);
    expect(rests).toMatchObject({ Status: 'paused', StatusDescription: 'Deployment is paused' });
    const goesOn = resumed(rests, startMs + 3_600_000);
    expect(goesOn).toMatchObject({
      Status: 'running',
      StatusDescription: 'Deployment is running',
      TaskGroups: {
        web: { RequireProgressBy: '2026-01-01T01:10:00Z' },
        later: { RequireProgressBy: null },
      },
    });
  });

  test('change nothing the second time', () => {
    const running = sampleDeployment({ RequireProgressBy });
    const rests = paused(running, startMs);
    expect(paused(rests, startMs + 1)).toBe(rests);
    expect(resumed(running, startMs + 1)).toBe(running);
  });
});

test.each([
  ['no canaries', [{}], 'Deployment is running'],
  [
    'canaries that need manual promotion',
    [{ DesiredCanaries: 1 }],
    'Deployment is running but requires manual promotion',
  ],
  [
    'canaries that promote themselves',
    [{ DesiredCanaries: 1, AutoPromote: true }, {}],
    'Deployment is running pending automatic promotion',
  ],
  [
    'canaries that do not all promote themselves',
    [{ DesiredCanaries: 1, AutoPromote: true }, { DesiredCanaries: 1 }],
    'Deployment is running but requires manual promotion',
  ],
  ['promoted canaries', [{ DesiredCanaries: 1, Promoted: true }], 'Deployment is running'],
])('with %s', (_name, groups, sentence) => {
  const named = groups.map((group, at) => [`group-${at}`, sampleGroup(group)]);
  expect(runningDescription({ TaskGroups: Object.fromEntries(named) })).toBe(sentence);
});

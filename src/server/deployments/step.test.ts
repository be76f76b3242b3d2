import { expect, test } from 'vitest';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { DeploymentGroup } from '../../model/deployment/deployment.ts';
import { sampleDeployment, startMs } from '../../model/deployment/sample.test-helper.ts';
import type { Input } from '../../model/schema.ts';
import { deploymentId, jobOf, memberOf } from './rollout.test-helper.ts';
import { nextStep } from './step.ts';

const minute = 60_000;
const unhealthy = { DeploymentStatus: { Healthy: false } };
const healthy = { DeploymentStatus: { Healthy: true } };
const canary = { DeploymentStatus: { Healthy: true, Canary: true } };
const never = { ReschedulePolicy: { Attempts: 0, Unlimited: false } };
const twice = {
  ReschedulePolicy: {
    Attempts: 2,
    Interval: 3600e9,
    Unlimited: false,
    Delay: 5e9,
    DelayFunction: 'constant',
  },
};
const tried = (times: number): Input<Allocation> => ({
  RescheduleTracker: {
    Events: Array.from({ length: times }, () => ({ RescheduleTime: (startMs - 1) * 1e6 })),
  },
});
const due = { RequireProgressBy: new Date(startMs + minute).toISOString() };
const unhealthyEnd = { kind: 'fail', reason: 'Failed due to unhealthy allocations' };
const nothing = { kind: 'go-on', reschedule: [], promote: [] };
const marks = (...ids: string[]) => ({ ...nothing, reschedule: ids.map((ID) => ({ ID })) });

interface Case {
  readonly group?: Input<DeploymentGroup>;
  readonly of?: object;
  readonly paused?: true;
  readonly members?: readonly Input<Allocation>[];
  readonly afterMs?: number;
  readonly step: object;
}

test.each<[string, Case]>([
  ['goes on where all is well', { members: [healthy, {}], step: nothing }],
  [
    'has unhealthy allocations replaced, while the policy allows it',
    { members: [healthy, unhealthy, { ClientStatus: 'failed' }], step: marks('1', '2') },
  ],
  [
    'marks nothing twice, and nothing that is over',
    {
      members: [
        { ...unhealthy, DesiredTransition: { Reschedule: true } },
        { ...unhealthy, DesiredStatus: 'stop' },
        { ...unhealthy, NextAllocation: 'other' },
        { ...unhealthy, ClientStatus: 'lost' },
      ],
      step: nothing,
    },
  ],
  [
    'fails where the policy replaces nothing',
    { of: never, members: [unhealthy], step: { ...unhealthyEnd, groups: ['web'] } },
  ],
  [
    'fails where what failed is judged by hand and the policy replaces nothing',
    {
      of: never,
      members: [{ ClientStatus: 'failed' }],
      step: { ...unhealthyEnd, groups: ['web'] },
    },
  ],
  [
    'goes on with the second try',
    { of: twice, members: [{ ...unhealthy, ...tried(1) }], step: marks('0') },
  ],
  [
    'fails when the policy is used up',
    {
      of: twice,
      members: [{ ...unhealthy, ...tried(2) }],
      step: { ...unhealthyEnd, groups: ['web'] },
    },
  ],
  [
    'without a deadline fails with the first',
    {
      group: { ProgressDeadline: 0 },
      members: [healthy, unhealthy],
      step: { ...unhealthyEnd, groups: ['web'] },
    },
  ],
  ['goes on before the deadline', { group: due, afterMs: minute - 1, step: nothing }],
  [
    'fails at the deadline',
    {
      group: due,
      afterMs: minute,
      step: { kind: 'fail', reason: 'Failed due to progress deadline', groups: ['web'] },
    },
  ],
  [
    'promotes itself',
    {
      group: { DesiredCanaries: 2, AutoPromote: true },
      members: [canary, canary],
      step: { ...nothing, promote: ['web'] },
    },
  ],
  [
    'does not promote itself before all canaries are healthy',
    { group: { DesiredCanaries: 2, AutoPromote: true }, members: [canary, {}], step: nothing },
  ],
  [
    'is not promoted where somebody has to',
    { group: { DesiredCanaries: 1 }, members: [canary], step: nothing },
  ],
  [
    'does nothing of its own while it is paused, but replaces what failed',
    {
      paused: true,
      group: { ...due, DesiredCanaries: 1, AutoPromote: true },
      members: [canary, unhealthy],
      afterMs: 2 * minute,
      step: marks('1'),
    },
  ],
  [
    'does not fail while it is paused',
    { paused: true, of: never, members: [unhealthy], step: nothing },
  ],
])('a deployment %s', (_name, { group = {}, of = {}, paused, members = [], afterMs = 0, step }) => {
  const deployment = sampleDeployment(group, {
    ID: deploymentId,
    Status: paused ? 'paused' : 'running',
  });
  const allocations = members.map((fields, at) => memberOf(String(at), fields));
  const found = nextStep(deployment, jobOf(1, {}, of), allocations, startMs + afterMs);
  expect(found).toMatchObject(step);
  if (found.kind === 'go-on') {
    expect(found.reschedule).toHaveLength((step as typeof nothing).reschedule.length);
  }
});

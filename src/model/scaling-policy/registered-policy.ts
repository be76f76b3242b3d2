import type { Job } from '../job/job.ts';
import { FullMapOf, type Model, stamps, Text, Type } from '../schema.ts';
import { scalingPolicyId } from './policy-id.ts';
import { type ScalingPolicy, ScalingPolicySchema } from './scaling-policy.ts';

const { Enabled, Max, Min, Policy } = ScalingPolicySchema.properties;

/**
 * A scaling policy of a registered job, for its autoscaler. `Target` names the `Namespace`, `Job` and
 * `Group`, and the `Task` of a task's policy. Source: docs/behaviour/job-specification.md#scaling-policies.
 */
export const RegisteredPolicySchema = Type.Object({
  ID: Text(),
  Namespace: Text(),
  Type: Text(),
  Target: FullMapOf(Type.String()),
  Min,
  Max,
  Policy,
  Enabled,
  ...stamps,
});
export interface RegisteredPolicy extends Model<typeof RegisteredPolicySchema> {}

/** A scaling policy in a list. */
const { ID, Target, Type: Kind } = RegisteredPolicySchema.properties;
export const ScalingPolicyStubSchema = Type.Object({ ID, Enabled, Type: Kind, Target, ...stamps });
export interface ScalingPolicyStub extends Model<typeof ScalingPolicyStubSchema> {}

export const scalingPolicyStub = (policy: RegisteredPolicy): ScalingPolicyStub => ({
  ID: policy.ID,
  Enabled: policy.Enabled,
  Type: policy.Type,
  Target: policy.Target,
  CreateIndex: policy.CreateIndex,
  ModifyIndex: policy.ModifyIndex,
});

/** The order of policies in their job: by group, task and id. */
export const placeInJob = ({ Target: { Group, Task }, ID }: RegisteredPolicy) =>
  [Group ?? '', Task ?? '', ID] as const;

/**
 * The scaling policies of a job's groups and tasks. The policies of a stopped job are not enabled, so that
 * nobody scales it.
 */
export function policiesOf(job: Job): RegisteredPolicy[] {
  return job.TaskGroups.flatMap(({ Name, Scaling, Tasks }) => [
    ...(Scaling === null ? [] : [registered(job, { Group: Name }, Scaling)]),
    ...Tasks.flatMap((task) =>
      (task.ScalingPolicies ?? []).map((policy, at) =>
        registered(job, { Group: Name, Task: task.Name }, policy, [String(at)]),
      ),
    ),
  ]);
}

interface PolicyTarget {
  readonly Group: string;
  readonly Task?: string;
}

function registered(
  job: Job,
  target: PolicyTarget,
  policy: ScalingPolicy,
  which: readonly string[] = [],
): RegisteredPolicy {
  const { Namespace, ID, Stop } = job;
  const Target = { Namespace, Job: ID, ...target };
  return {
    ID: scalingPolicyId([...Object.values(Target), ...which]),
    Namespace,
    Target,
    Type: policy.Type,
    Min: policy.Min,
    Max: policy.Max,
    Policy: policy.Policy,
    Enabled: policy.Enabled && !Stop,
    CreateIndex: 0,
    ModifyIndex: 0,
  };
}

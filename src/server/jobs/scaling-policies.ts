import type { Job } from '../../model/job/job.ts';
import { isSame } from '../../model/same.ts';
import { placeInJob, policiesOf } from '../../model/scaling-policy/registered-policy.ts';
import { inNamespace, jobs, scalingEvents, scalingPolicies } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';

/**
 * Stores the scaling policies of the job as it is now. Unchanged policies are left alone and keep
 * their index. Source: docs/behaviour/job-specification.md#scaling-policies.
 */
export function followScalingPolicies(transaction: Transaction, job: Job): void {
  const table = transaction.table(scalingPolicies);
  const prefix = inNamespace(job.Namespace, job.ID);
  const stored = table.size === 0 ? [] : [...table.scan({ prefix })];
  if (stored.length === 0 && !mayHavePolicies(job)) return;
  const wanted = new Map(policiesOf(job).map((policy) => [policy.ID, policy]));
  for (const { CreateIndex, ModifyIndex, ...policy } of stored) {
    const next = wanted.get(policy.ID);
    if (next === undefined) {
      table.delete(...prefix, ...placeInJob({ ...policy, CreateIndex, ModifyIndex }));
    } else if (isSame({ ...policy, CreateIndex: 0, ModifyIndex: 0 }, next))
      wanted.delete(policy.ID);
  }
  for (const policy of wanted.values()) table.put(policy);
}

const mayHavePolicies = ({ TaskGroups }: Job): boolean =>
  TaskGroups.some(
    ({ Scaling, Tasks }) =>
      Scaling !== null || Tasks.some(({ ScalingPolicies }) => ScalingPolicies !== null),
  );

/** Removes the job's scaling policies and events. */
export function forgetScaling(transaction: Transaction, namespace: string, jobId: string): void {
  const prefix = inNamespace(namespace, jobId);
  for (const { TaskGroup } of [...transaction.table(scalingEvents).scan({ prefix })]) {
    transaction.table(scalingEvents).delete(...prefix, TaskGroup);
  }
  for (const policy of [...transaction.table(scalingPolicies).scan({ prefix })]) {
    transaction.table(scalingPolicies).delete(...prefix, ...placeInJob(policy));
  }
}

/** Jobs registered by versions that stored no scaling policies get theirs. */
export function seedScalingPolicies(transaction: Transaction): void {
  if (transaction.table(scalingPolicies).size > 0) return;
  for (const job of [...transaction.table(jobs).scan()]) {
    if (mayHavePolicies(job)) followScalingPolicies(transaction, job);
  }
}

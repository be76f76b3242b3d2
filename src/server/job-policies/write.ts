import { complete } from '../../model/complete.ts';
import { refusal } from '../../model/errors.ts';
import {
  type JobPolicy,
  type JobPolicyRequest,
  JobPolicySchema,
} from '../../model/job-policy/job-policy.ts';
import { requireJobPolicy } from '../../model/job-policy/write.ts';
import { limits } from '../../model/limits.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import { jobPolicies } from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import { requireRoom, requireSameName } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import { requireNamespace } from '../namespaces/find.ts';

/** @throws RosterError `job-policy-not-found` */
export function requirePolicyNamed(snapshot: Snapshot, name: string): JobPolicy {
  const policy = snapshot.table(jobPolicies).get(name);
  if (policy === undefined) throw refusal('job-policy-not-found', { name });
  return policy;
}

/**
 * Makes or replaces a policy. It applies to jobs submitted from now on, and not to jobs that are
 * registered already. `guard`: the `ModifyIndex` that the caller has seen; 0: there is none.
 * @throws RosterError `id-mismatch`, `invalid-body`, `namespace-not-found`, `limit-reached`,
 * `job-policy-conflict`
 */
export async function writeJobPolicy(
  { state }: ServerContext,
  pathName: string,
  request: JobPolicyRequest,
  guard: number | undefined,
): Promise<Written<JobPolicy>> {
  requireSameName('job policy', request.Name, pathName);
  const policy = complete(JobPolicySchema, {
    ...request,
    Name: pathName,
    Namespace: request.Namespace || everyNamespace,
  });
  requireJobPolicy(policy);
  return state.write((transaction) => {
    const table = transaction.table(jobPolicies);
    if (policy.Namespace !== everyNamespace) requireNamespace(transaction, policy.Namespace);
    if (!table.has(policy.Name)) requireRoom('job policy', table.size, limits.jobPolicy.countMax);
    guardIndex(transaction, policy.Name, guard);
    return table.put(policy);
  });
}

/** @throws RosterError `job-policy-not-found`, `job-policy-conflict` */
export async function deleteJobPolicy(
  { state }: ServerContext,
  name: string,
  guard: number | undefined,
): Promise<Written<boolean>> {
  return state.write((transaction) => {
    requirePolicyNamed(transaction, name);
    guardIndex(transaction, name, guard);
    return transaction.table(jobPolicies).delete(name);
  });
}

function guardIndex(transaction: Transaction, name: string, guard: number | undefined): void {
  if (guard === undefined) return;
  const actual = transaction.table(jobPolicies).get(name)?.ModifyIndex ?? 0;
  if (guard !== actual) throw refusal('job-policy-conflict', { name, actual, index: guard });
}

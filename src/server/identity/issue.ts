import { instantFromMs } from '../../base/instant.ts';
import { occupiesNode } from '../../model/allocation/allocation-rules.ts';
import type { Identity } from '../../model/task/identity.ts';
import { claimsFor, defaultIdentityName, lifetimeSeconds } from '../../model/workload/claims.ts';
import type {
  IdentityAnswer,
  IdentityRequest,
  IssuedIdentity,
} from '../../model/workload/identity-request.ts';
import { allocations, inNamespace, jobVersions, numberPart } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { rowWithId } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import type { Keyring } from '../keyring/keyring.ts';

export interface IdentityIssuer {
  readonly context: ServerContext;
  readonly keyring: Keyring;
  /** The address of this cluster as an issuer of tokens. */
  readonly issuer: string | undefined;
}

/**
 * Signs the identities of tasks for the node that runs them. An identity that cannot be issued does
 * not hold up the others. Identities are not stored. Source: docs/behaviour/client.md#setup.
 */
export function issueIdentities(
  issuer: IdentityIssuer,
  snapshot: Snapshot,
  nodeId: string,
  requests: readonly IdentityRequest[],
): IdentityAnswer {
  const Identities: IssuedIdentity[] = [];
  const Refused: (IdentityRequest & { readonly Reason: string })[] = [];
  for (const request of requests) {
    const made = issue(issuer, snapshot, nodeId, request);
    if (typeof made === 'string') Refused.push({ ...request, Reason: made });
    else Identities.push(made);
  }
  return { Identities, Refused };
}

/** The token, or the reason why there is none. */
function issue(
  { context, keyring, issuer }: IdentityIssuer,
  snapshot: Snapshot,
  nodeId: string,
  request: IdentityRequest,
): IssuedIdentity | string {
  const { AllocID, Task: taskName, Name: name } = request;
  const allocation = rowWithId(snapshot.table(allocations), AllocID);
  // An allocation of another node is unknown to this one.
  if (allocation?.NodeID !== nodeId) return 'the node has no such allocation';
  if (!occupiesNode(allocation)) return 'the allocation has ended';
  const { Namespace: namespace, JobID, JobVersion, JobCreateIndex, TaskGroup: group } = allocation;
  const key = inNamespace(namespace, JobID, numberPart(JobVersion));
  const job = snapshot.table(jobVersions).get(...key);
  if (job?.CreateIndex !== JobCreateIndex) return 'the job is gone';
  const task = job.TaskGroups.find(({ Name }) => Name === group)?.Tasks.find(
    ({ Name }) => Name === taskName,
  );
  if (task === undefined) return 'the allocation has no such task';
  const isDefault = name === defaultIdentityName;
  const identity: Identity | null | undefined = isDefault
    ? task.Identity
    : task.Identities?.find(({ Name }) => Name === name);
  if (!isDefault && !identity) return 'the task has no such identity';
  const workload = {
    region: context.region,
    issuer,
    namespace,
    group,
    task: taskName,
    name,
    job: job.ParentID || job.ID,
    allocation: allocation.ID,
    identity: identity ?? undefined,
  };
  const { clock, ids } = context.world;
  const claims = claimsFor(workload, clock.nowMs(), ids.uuid());
  return {
    ...request,
    Token: keyring.sign(claims),
    TTL: lifetimeSeconds(workload) * 1e9,
    ExpirationTime: instantFromMs(claims.exp! * 1000),
  };
}

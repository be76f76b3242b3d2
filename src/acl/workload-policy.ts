import type { Rule } from '../language/rules/rule.ts';
import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import { defaultNamespace, defaultPartition } from '../model/namespace/namespace.ts';
import { workloadPaths } from '../model/variable/variable-rules.ts';
import { aclPolicies } from '../state/tables.ts';
import type { Snapshot } from '../state/types.ts';
import type { Policy } from './grants.ts';
import type { Linked } from './links.ts';

/** The part of a workload's identity that determines its permissions. */
export interface WorkloadPlace {
  readonly namespace: string;
  readonly job: string;
  readonly group: string;
  readonly task: string;
}

const policyId = 'workload';

/**
 * The permissions that every workload has: to read the variables of its job, group and task. The
 * rules are built directly, because the name of a job could change the meaning of a rules text.
 * Source: docs/guides/variables.md#say-who-may-read-it.
 */
export function workloadPolicy({ namespace, job, group, task }: WorkloadPlace): Policy {
  const rules = workloadPaths(job, group, task).map(
    (path): Rule => ({
      resource: 'variable',
      match: 'exact',
      name: path,
      access: undefined,
      intentions: undefined,
      capabilities: ['list', 'read'],
      partition: undefined,
      namespace: { match: 'exact', name: namespace },
      position: { offset: 0, line: 1, column: 1 },
      text: `path ${JSON.stringify(path)} { capabilities = ["list", "read"] }`,
    }),
  );
  return { ID: policyId, Name: policyId, ...home, rules };
}

const home = { Namespace: defaultNamespace, Partition: defaultPartition };

/** The link to this policy, for explanations. */
const workloadLink: Linked = {
  policy: {
    ID: policyId,
    Name: policyId,
    ...home,
    Rules: '',
    Datacenters: null,
    Hash: '',
    JobACL: null,
    Description: 'what every workload may do',
    CreateIndex: 0,
    ModifyIndex: 0,
  } satisfies AclPolicy,
  role: undefined,
  from: 'token',
  synthetic: true,
  elsewhere: false,
};

/**
 * The policies attached to the workload's job, group or task, including those of other datacenters.
 */
function attachedTo(snapshot: Snapshot, place: WorkloadPlace): AclPolicy[] {
  const named = snapshot.table(aclPolicies).by('job');
  const policies = [...named.scan({ prefix: [place.namespace, place.job] })];
  return policies.filter(({ JobACL }) => {
    const isGroup = JobACL?.Group === '' || JobACL?.Group === place.group;
    return isGroup && (JobACL?.Task === '' || JobACL?.Task === place.task);
  });
}

/** All policies of a workload, with the ways to them. */
export function workloadLinks(
  snapshot: Snapshot,
  place: WorkloadPlace,
  datacenter: string,
): readonly Linked[] {
  const attached = attachedTo(snapshot, place).map((policy): Linked => {
    const { Datacenters } = policy;
    const elsewhere = Datacenters !== null && !Datacenters.includes(datacenter);
    return { policy, role: undefined, from: 'token', synthetic: false, elsewhere };
  });
  return [workloadLink, ...attached];
}

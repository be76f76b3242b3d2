import type { Rule } from '../language/rules/rule.ts';
import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import { defaultNamespace, defaultPartition } from '../model/namespace/namespace.ts';
import { workloadPaths } from '../model/variable/variable-rules.ts';
import type { Policy } from './grants.ts';
import type { Linked } from './links.ts';

/** What of a workload decides what it may do. */
export interface WorkloadPlace {
  readonly namespace: string;
  readonly job: string;
  readonly group: string;
  readonly task: string;
}

const policyId = 'workload';

/**
 * What every workload may do without anybody saying so: read the variables of its job, group and
 * task. It is made of rules and not of text, since names of jobs may hold what a text would
 * understand otherwise. Source: facts/scheduler.md §8.5 "Variables".
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

/** How a workload comes by that policy, for explanations. */
export const workloadLink: Linked = {
  policy: {
    ...{ ID: policyId, Name: policyId, ...home, Rules: '', Datacenters: null, Hash: '' },
    ...{ Description: 'what every workload may do', CreateIndex: 0, ModifyIndex: 0 },
  } satisfies AclPolicy,
  role: undefined,
  from: 'token',
  synthetic: true,
  elsewhere: false,
};

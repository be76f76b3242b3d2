import { managementPolicyId, managementPolicyName } from '../acl-token/acl-token.ts';

/** Policies that are there from the start. Their rules stand fast. Source: facts/registry.md §2.3. */
export interface BuiltinPolicy {
  readonly ID: string;
  readonly Name: string;
  readonly Description: string;
  readonly Rules: string;
}

const scalars = ['acl', 'keyring', 'operator', 'mesh', 'peering'];
const prefixes = ['agent', 'event', 'identity', 'key', 'node', 'query', 'service', 'session'];
/** These have no `_prefix` form: `*` stands for every name. */
const globs = ['namespace', 'node_pool', 'host_volume'];

function rulesForAll(access: 'read' | 'write'): string {
  const withIntentions = (resource: string): string =>
    resource === 'service' && access === 'write' ? '\n  intentions = "write"' : '';
  const block = (head: string, more = ''): string => `${head} {\n  policy = "${access}"${more}\n}`;
  const lines = [
    ...scalars.map((resource) => `${resource} = "${access}"`),
    ...prefixes.map((resource) => block(`${resource}_prefix ""`, withIntentions(resource))),
    ...globs.map((resource) => block(`${resource} "*"`)),
  ];
  return `${lines.join('\n')}\n`;
}

export const builtinPolicies: readonly BuiltinPolicy[] = [
  {
    ID: managementPolicyId,
    Name: managementPolicyName,
    Description: 'A policy that grants unlimited access',
    Rules: rulesForAll('write'),
  },
  {
    ID: '00000000-0000-0000-0000-000000000002',
    Name: 'builtin/global-read-only',
    Description: 'A policy that grants unlimited read-only access',
    Rules: rulesForAll('read'),
  },
];

export const isBuiltinPolicy = (id: string): boolean =>
  builtinPolicies.some((policy) => policy.ID === id);

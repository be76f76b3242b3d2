import { createHash } from 'node:crypto';
import { managementPolicyId, managementPolicyName } from '../acl-token/acl-token.ts';
import { defaultPartition } from '../namespace/namespace.ts';

/**
 * Policies that exist from the start.
 * Source: docs/behaviour/access-control.md#builtin-policies.
 */
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
/** Prefixes of resources whose names live in namespaces. */
const inNamespaces = ['event', 'identity', 'key', 'node', 'query', 'service', 'session'];

type Access = 'read' | 'write';

const block = (head: string, access: Access, more: readonly string[] = []): string =>
  [`${head} {`, `  policy = "${access}"`, ...more, '}'].join('\n');

const prefixBlock = (resource: string, access: Access): string => {
  const hasIntentions = resource === 'service' && access === 'write';
  return block(`${resource}_prefix ""`, access, hasIntentions ? ['  intentions = "write"'] : []);
};

function rulesForAll(access: Access): string {
  const lines = [
    ...scalars.map((resource) => `${resource} = "${access}"`),
    ...prefixes.map((resource) => prefixBlock(resource, access)),
    ...globs.map((resource) => block(`${resource} "*"`, access)),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * The rules of a policy that lives in a partition. They grant nothing outside of the partition, so they reach
 * its other namespaces only by a block.
 */
function rulesForPartition(access: Access): string {
  const inner = inNamespaces.flatMap((resource) => prefixBlock(resource, access).split('\n'));
  const everywhere = block(
    'namespace_prefix ""',
    access,
    inner.map((line) => `  ${line}`),
  );
  return `${rulesForAll(access)}${everywhere}\n`;
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

/**
 * The builtin policies of a partition. The policies of `default` hold in the whole cluster. The policies of
 * another partition are decided like ordinary ones, with ids and rules of their own.
 */
export function builtinPoliciesOf(partition: string): readonly BuiltinPolicy[] {
  if (partition === defaultPartition) return builtinPolicies;
  return (['write', 'read'] as const).map((access, at) => {
    const { ID, Name, Description } = builtinPolicies[at]!;
    return {
      ID: idWithin(partition, ID),
      Name,
      Description: `${Description} in this partition`,
      Rules: rulesForPartition(access),
    };
  });
}

export const builtinPolicyOf = (partition: string, id: string): BuiltinPolicy | undefined =>
  builtinPoliciesOf(partition).find((policy) => policy.ID === id);

/** A UUID (version 8) that is the same for the same names, so that a policy is made only once. */
function idWithin(partition: string, id: string): string {
  const hex = createHash('sha256').update(`${partition}\0${id}`).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return [...parts, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}

/** Builtin policies hold in the whole cluster, and tokens of every partition may link them. */
export const isBuiltinPolicy = (id: string): boolean =>
  builtinPolicies.some((policy) => policy.ID === id);

import {
  type Access,
  describePermission,
  type NamedAccess,
  type NamedResource,
  namedAccess,
  namespaceCapability,
  type Permission,
  type Resource,
  resourceAccess,
} from '../model/permission/permission.ts';
import { accessesTo } from '../model/permission/permission-words.ts';
import type { DefaultPolicy } from './authorizer.ts';
import { decide, type Question } from './decide.ts';
import { type Grant, grantsOf, type Policy } from './grants.ts';
import type { Pattern } from './pattern.ts';
import { resources } from './resources.ts';
import { RuleTable } from './rule-table.ts';

/** A permission that exactly one of two sets of policies gives. */
export interface PolicyChange {
  /** In the words of a refusal; `…` is a name that no rule mentions. */
  readonly permission: string;
  readonly change: 'gained' | 'lost';
}

/** The policies of a token. */
export interface PolicySet {
  /** Linked by the token or its roles. */
  readonly policies: readonly Policy[];
  /** Defaults of the namespace, which apply where no linked policy does. */
  readonly defaults?: readonly Policy[];
}

/**
 * The differences between two sets of policies. Every name, place and access in a rule of either
 * set is checked; for a prefix or a glob, an unused name that it covers. Both sets decide equally
 * about all others.
 */
export function policyChanges(
  before: PolicySet,
  after: PolicySet,
  defaultPolicy: DefaultPolicy = 'deny',
): PolicyChange[] {
  const tableOf = ({ policies, defaults }: PolicySet) => new RuleTable(policies, defaults);
  const [old, now] = [tableOf(before), tableOf(after)];
  const defaultAllows = defaultPolicy === 'allow';
  const found = new Map<string, PolicyChange>();
  const grants = [before, after].flatMap(({ policies, defaults = [] }) =>
    [...policies, ...defaults].flatMap(grantsOf),
  );
  for (const question of questionsAbout(grants, defaultAllows)) {
    const had = decide(old, question, defaultAllows).allowed;
    const has = decide(now, question, defaultAllows).allowed;
    if (had === has) continue;
    const permission = describePermission(permissionIn(question));
    found.set(permission, { permission, change: has ? 'gained' : 'lost' });
  }
  return [...found.values()].sort((left, right) => (left.permission < right.permission ? -1 : 1));
}

const another = '…';

/** `defaultAllows`: a denial withholds every access, including those in no rule. */
function questionsAbout(grants: readonly Grant[], defaultAllows: boolean): Question[] {
  const byResource = Map.groupBy(grants, ({ resource }) => resource);
  const operator = byResource.get('operator') ?? [];
  for (const [resource, { fallback }] of Object.entries(resources)) {
    if (fallback === undefined) continue;
    byResource.set(resource, [...(byResource.get(resource) ?? []), ...operator]);
  }
  return [...byResource].flatMap(([resource, of]) => {
    const inNamespaces = resources[resource]!.unwrapped !== 'none';
    const accesses = distinct([
      ...of.flatMap(({ holds }) => holds ?? []),
      ...(defaultAllows ? accessesTo(resource) : []),
    ]);
    const namespaces = inNamespaces
      ? distinct(of.flatMap((grant) => namesIn(grant.namespaces, ['default', another])))
      : ['default'];
    const partitions = distinct(of.flatMap((grant) => namesIn(grant.partitions, ['default'])));
    const names = distinct(
      of.flatMap((grant) => namesIn(grant.names, isWhole(resource) ? [''] : ['', another])),
    );
    return combine(names, accesses, namespaces, partitions).map(
      ([name, access, namespace, partition]) => ({
        resource,
        access,
        name,
        namespace,
        partition,
        extent: name === '' ? ('under' as const) : ('one' as const),
      }),
    );
  });
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)];

/** Sample names that the pattern covers; `wide` for the pattern of all names. */
function namesIn({ kind, text }: Pattern, wide: readonly string[]): readonly string[] {
  if (kind === 'exact') return [text];
  if (kind === 'prefix') return text === '' ? wide : [text + another];
  return [text.replaceAll('*', another)];
}

type Four = readonly [name: string, access: string, namespace: string, partition: string];

const combine = (...[names, accesses, namespaces, partitions]: readonly (readonly string[])[]) =>
  names!.flatMap((name) =>
    accesses!.flatMap((access) =>
      namespaces!.flatMap((namespace) =>
        partitions!.map((partition): Four => [name, access, namespace, partition]),
      ),
    ),
  );

const isWhole = (resource: string): boolean =>
  ['acl', 'keyring', 'mesh', 'operator', 'peering', 'plugin', 'quota'].includes(resource);

function permissionIn({ resource, access, name, extent, ...place }: Question): Permission {
  if (resource === 'namespace') return namespaceCapability(name === '' ? '*' : name, access);
  if (isWhole(resource)) return resourceAccess(resource as Resource, access as Access, place);
  const asked = { ...place, extent: extent === 'under' ? ('every' as const) : ('one' as const) };
  return namedAccess(resource as NamedResource, access as NamedAccess, name, asked);
}

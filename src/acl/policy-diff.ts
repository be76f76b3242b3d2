import { decide, type Question } from './decide.ts';
import { type Grant, grantsOf, type Policy } from './grants.ts';
import type { Pattern } from './pattern.ts';
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
} from './permission.ts';
import { resources } from './resources.ts';
import { RuleTable } from './rule-table.ts';

/** A permission that one set of policies gives and the other does not. */
export interface PolicyChange {
  /** As a refusal names it; `…` stands for whatever no other rule names. */
  readonly permission: string;
  readonly change: 'gained' | 'lost';
}

/**
 * What changes between two sets of policies, asked of every name, place and access that a rule of
 * either mentions; of a prefix or a glob, of a name that it fits and that nobody has. What no rule
 * mentions, both decide alike.
 */
export function policyChanges(before: readonly Policy[], after: readonly Policy[]): PolicyChange[] {
  const [old, now] = [new RuleTable(before), new RuleTable(after)];
  const found = new Map<string, PolicyChange>();
  for (const question of questionsAbout([...before, ...after].flatMap(grantsOf))) {
    const had = decide(old, question, false).allowed;
    const has = decide(now, question, false).allowed;
    if (had === has) continue;
    const permission = describePermission(permissionIn(question));
    found.set(permission, { permission, change: has ? 'gained' : 'lost' });
  }
  return [...found.values()].sort((left, right) => (left.permission < right.permission ? -1 : 1));
}

const another = '…';

function questionsAbout(grants: readonly Grant[]): Question[] {
  const byResource = Map.groupBy(grants, ({ resource }) => resource);
  const operator = byResource.get('operator') ?? [];
  for (const [resource, { fallback }] of Object.entries(resources)) {
    if (fallback === undefined) continue;
    byResource.set(resource, [...(byResource.get(resource) ?? []), ...operator]);
  }
  return [...byResource].flatMap(([resource, of]) => {
    const inNamespaces = resources[resource]!.unwrapped !== 'none';
    const accesses = distinct(of.flatMap(({ holds }) => holds ?? []));
    const namespaces = inNamespaces
      ? distinct(of.flatMap((grant) => namesIn(grant.namespaces, ['default', another])))
      : ['default'];
    const partitions = distinct(of.flatMap((grant) => namesIn(grant.partitions, ['default'])));
    const names = distinct(
      of.flatMap((grant) => namesIn(grant.names, isWhole(resource) ? [''] : ['', another])),
    );
    return combine(names, accesses, namespaces, partitions).map(
      ([name, access, namespace, partition]) => ({
        ...{ resource, access, name, namespace, partition },
        extent: name === '' ? ('under' as const) : ('one' as const),
      }),
    );
  });
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)];

/** Names that the pattern fits; `wide` for one that fits all. */
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

/**
 * The permission that a route needs, as data: authorization, refusals, the OpenAPI document and explanations
 * all use the same value. Source: docs/contract/access-control.md#authentication.
 */
export type Permission =
  /** Everybody, even an anonymous caller. */
  | { readonly kind: 'open' }
  /** A token with all rights. */
  | { readonly kind: 'management' }
  /** A capability in a namespace; `any`: at least one of several. */
  | ({
      readonly kind: 'namespace';
      readonly namespace: string;
      readonly capability: string;
    } & Partition)
  /** A resource as a whole: `operator:read`, or all nodes. */
  | ({
      readonly kind: 'resource';
      readonly resource: Resource;
      readonly access: Access;
      /** The namespace of the resource, if it has one (`acl`). Default `default`. */
      readonly namespace?: string;
    } & Partition)
  /** A resource with a name. */
  | NamedPermission
  /** The node itself, authenticated by its secret. */
  | { readonly kind: 'own-node'; readonly nodeId: string }
  /** A workload of the namespace, or of the allocation if one is named. */
  | {
      readonly kind: 'workload';
      readonly namespace: string;
      readonly allocation?: string;
    }
  /** The right to register a new node. */
  | { readonly kind: 'node-introduction' }
  | { readonly kind: 'any'; readonly of: readonly Permission[] }
  | { readonly kind: 'all'; readonly of: readonly Permission[] };

interface Partition {
  /** Default `default`. */
  readonly partition?: string;
}

export interface NamedPermission extends Partition {
  readonly kind: 'named';
  readonly resource: NamedResource;
  readonly access: NamedAccess;
  readonly name: string;
  /** Default `one`. */
  readonly extent?: Extent;
  /** The namespace of the resource, if it has one. Default `default`. */
  readonly namespace?: string;
}

/**
 * The names that a permission has to cover: `one`, the given name; `any`, at least one name; `every`, all
 * names; `under`, all names that begin with the given one.
 */
export type Extent = 'one' | 'any' | 'every' | 'under';

export type Resource =
  | ('acl' | 'agent' | 'keyring' | 'mesh' | 'node' | 'operator' | 'peering')
  | ('plugin' | 'quota');

export type NamedResource =
  | ('agent' | 'event' | 'identity' | 'intention' | 'key' | 'node' | 'query' | 'service')
  | 'session'
  | ('node_pool' | 'host_volume' | 'variable');

export type Access = 'list' | 'read' | 'write';
export type NamedAccess = Access | 'delete' | 'destroy' | 'mount-readonly' | 'mount-readwrite';

export const open: Permission = { kind: 'open' };
export const management: Permission = { kind: 'management' };

export const namespaceCapability = (namespace: string, capability: string): Permission => ({
  kind: 'namespace',
  namespace,
  capability,
});

/** Whether the caller may know that the namespace exists: any capability in it is enough. */
export const anyCapability = (namespace: string, partition: string): Permission => ({
  kind: 'namespace',
  capability: 'any',
  namespace,
  partition,
});

export interface Place {
  readonly namespace?: string;
  readonly partition?: string;
}

export const resourceAccess = (
  resource: Resource,
  access: Access,
  place: Place = {},
): Permission => ({ kind: 'resource', resource, access, ...place });

export const namedAccess = (
  resource: NamedResource,
  access: NamedAccess,
  name: string,
  place: Place & { readonly extent?: Extent } = {},
): NamedPermission => ({ kind: 'named', resource, access, name, ...place });

/** The workloads of an allocation, for facts about it. */
export const ownAllocation = (namespace: string, allocation: string): Permission => ({
  kind: 'workload',
  namespace,
  allocation,
});

export const anyOf = (...of: readonly Permission[]): Permission => ({ kind: 'any', of });

export const allOf = (...of: readonly Permission[]): Permission => ({ kind: 'all', of });

/**
 * The permission in the words of a refusal: `namespace:submit-job on "default"`, `node:read`, `service:write
 * on "web" in the namespace "shop"`. The namespace and the partition `default` are named to callers whose
 * `home` is another.
 */
export function describePermission(permission: Permission, home: Place = {}): string {
  switch (permission.kind) {
    case 'open':
      return 'nothing';
    case 'management':
      return 'management';
    case 'namespace':
      return `namespace:${permission.capability} on "${permission.namespace}"`;
    case 'resource':
      return `${permission.resource}:${permission.access}${placeOf(permission, home)}`;
    case 'named':
      return `${permission.resource}:${permission.access}${extentOf(permission)}${placeOf(permission, home)}`;
    case 'own-node':
      return `the secret of node "${permission.nodeId}"`;
    case 'workload':
      return permission.allocation === undefined
        ? `the token of a workload in "${permission.namespace}"`
        : `the token of a task of allocation "${permission.allocation}"`;
    case 'node-introduction':
      return 'an introduction token';
    case 'any':
      return permission.of.map((one) => describePermission(one, home)).join(' or ');
    case 'all':
      return permission.of.map((one) => describePermission(one, home)).join(' and ');
  }
}

function extentOf({ extent, name }: NamedPermission): string {
  switch (extent) {
    case 'any':
      return ' on any';
    case 'every':
      return ' on every one';
    case 'under':
      return ` on every one under "${name}"`;
    default:
      return ` on "${name}"`;
  }
}

function placeOf({ namespace, partition }: Place, home: Place): string {
  const inNamespace = placeText('namespace', namespace, home.namespace);
  return inNamespace + placeText('partition', partition, home.partition);
}

function placeText(noun: string, name: string | undefined, home = 'default'): string {
  const isPlain = name === undefined || (name === 'default' && home === 'default');
  return isPlain ? '' : ` in the ${noun} "${name}"`;
}

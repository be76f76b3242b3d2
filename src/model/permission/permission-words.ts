import { namespaceCapabilities } from '../../language/rules/capabilities.ts';
import {
  type Access,
  type Extent,
  management,
  type NamedAccess,
  type NamedResource,
  namedAccess,
  namespaceCapability,
  type Permission,
  type Place,
  type Resource,
  resourceAccess,
} from './permission.ts';

/** A permission in the words of a caller. */
export interface PermissionWords {
  readonly resource: string;
  readonly access: string;
  /** The name of the resource; `undefined`: the resource as a whole. */
  readonly name: string;
}

interface Words {
  /** The accesses that the resource has. */
  readonly accesses: readonly string[];
  /**
   * `never`: the resource has no names; `maybe`: a permission without a name means the resource as a whole.
   */
  readonly named: 'never' | 'maybe' | 'always';
}

const plain = ['read', 'write'];
const scalar: Words = { accesses: plain, named: 'never' };
const maybe: Words = { accesses: plain, named: 'maybe' };
const always: Words = { accesses: plain, named: 'always' };

/** Source: docs/reference/rules.md#the-words-of-permissions. */
const known: Readonly<Record<string, Words>> = {
  acl: scalar,
  agent: maybe,
  event: always,
  host_volume: { accesses: ['mount-readonly', 'mount-readwrite'], named: 'always' },
  identity: always,
  intention: always,
  key: { accesses: [...plain, 'list', 'write-prefix'], named: 'always' },
  keyring: scalar,
  mesh: scalar,
  namespace: {
    accesses: namespaceCapabilities.known.filter((one) => one !== 'deny'),
    named: 'maybe',
  },
  node: maybe,
  node_pool: { accesses: [...plain, 'delete'], named: 'always' },
  operator: scalar,
  peering: scalar,
  plugin: { accesses: ['list', 'read'], named: 'never' },
  query: always,
  quota: scalar,
  service: always,
  session: always,
  variable: { accesses: [...plain, 'list', 'destroy'], named: 'always' },
};

/** The resources of the words, in the order of the alphabet. */
export const namedResources: readonly string[] = Object.keys(known);

/** Whether a permission on the resource may name a record. */
export const takesName = (resource: string): boolean =>
  known[resource] !== undefined && known[resource].named !== 'never';

/** The accesses of a resource, each once: `write-prefix` is a form of `write`. */
export const accessesTo = (resource: string): readonly string[] =>
  known[resource]?.accesses.filter((access) => access !== 'write-prefix') ?? [];

/** The fault of the words, as the end of "The permission …". */
export class PermissionFault extends Error {
  override readonly name = 'PermissionFault';
}

/**
 * The permission that the words mean. For a resource with names, a missing name means every possible name;
 * for `namespace`, the name is the namespace's.
 * @throws PermissionFault
 */
export function permissionOf(words: PermissionWords, place: Place = {}): Permission {
  const { resource, access, name } = words;
  if (resource === 'management' && access === '') return management;
  const found = Object.hasOwn(known, resource) ? known[resource] : undefined;
  if (found === undefined) {
    const all = ['management', ...Object.keys(known)].join(', ');
    throw new PermissionFault(`names no resource "${clip(resource)}"; there are ${all}`);
  }
  if (!found.accesses.includes(access)) {
    const all = found.accesses.join(', ');
    throw new PermissionFault(`has no access "${clip(access)}" to ${resource}; there are ${all}`);
  }
  if (resource === 'namespace') {
    const { partition } = place;
    const namespace = name === '' ? (place.namespace ?? 'default') : name;
    return { ...namespaceCapability(namespace, access), ...(partition && { partition }) };
  }
  if (found.named === 'never') return resourceAccess(resource as Resource, access as Access, place);
  const asked = access === 'write-prefix' ? 'write' : (access as NamedAccess);
  const extent: Extent =
    access === 'write-prefix' ? 'under' : name === '' && found.named === 'maybe' ? 'every' : 'one';
  return namedAccess(resource as NamedResource, asked, name, { ...place, extent });
}

/** Splits `service:write`; `management` has no second part. */
export function splitPermission(text: string): Pick<PermissionWords, 'resource' | 'access'> {
  const colon = text.indexOf(':');
  if (colon < 0) return { resource: text, access: '' };
  return { resource: text.slice(0, colon), access: text.slice(colon + 1) };
}

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/**
 * What a route needs, as data: it is authorized, named in a refusal, listed in the OpenAPI
 * document and explained from the same value. Source: DESIGN §5, spec/1 §5, spec/3 §4.
 */
export type Permission =
  /** Everybody, an anonymous caller included. */
  | { readonly kind: 'open' }
  /** A token that may do everything. */
  | { readonly kind: 'management' }
  /** A capability in one namespace. */
  | { readonly kind: 'namespace'; readonly namespace: string; readonly capability: string }
  /** A coarse resource of the rules language. */
  | { readonly kind: 'resource'; readonly resource: Resource; readonly access: Access }
  /** The node itself, shown by its secret. */
  | { readonly kind: 'own-node'; readonly nodeId: string }
  /** Whoever may bring a new node into the fleet. */
  | { readonly kind: 'node-introduction' }
  | { readonly kind: 'any'; readonly of: readonly Permission[] }
  | { readonly kind: 'all'; readonly of: readonly Permission[] };

export type Resource = 'acl' | 'agent' | 'keyring' | 'mesh' | 'node' | 'operator' | 'peering';
export type Access = 'read' | 'write';

export const open: Permission = { kind: 'open' };
export const management: Permission = { kind: 'management' };

export const namespaceCapability = (namespace: string, capability: string): Permission => ({
  kind: 'namespace',
  namespace,
  capability,
});

export const resourceAccess = (resource: Resource, access: Access): Permission => ({
  kind: 'resource',
  resource,
  access,
});

export const anyOf = (...of: readonly Permission[]): Permission => ({ kind: 'any', of });

export const allOf = (...of: readonly Permission[]): Permission => ({ kind: 'all', of });

/** The permission as a refusal names it: `namespace:submit-job on "default"`, `node:read`. */
export function describePermission(permission: Permission): string {
  switch (permission.kind) {
    case 'open':
      return 'nothing';
    case 'management':
      return 'management';
    case 'namespace':
      return `namespace:${permission.capability} on "${permission.namespace}"`;
    case 'resource':
      return `${permission.resource}:${permission.access}`;
    case 'own-node':
      return `the secret of node "${permission.nodeId}"`;
    case 'node-introduction':
      return 'an introduction token';
    case 'any':
      return permission.of.map(describePermission).join(' or ');
    case 'all':
      return permission.of.map(describePermission).join(' and ');
  }
}

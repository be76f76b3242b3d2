import type { Permission } from './permission.ts';

/**
 * Who asks, as far as the request's secret tells. The secret itself is not kept: what names the
 * caller in messages and logs is the accessor.
 */
export type Caller =
  | { readonly kind: 'anonymous'; readonly accessor: string }
  | {
      readonly kind: 'token';
      readonly accessor: string;
      readonly management: boolean;
      /** Where the token lives: what a request means that names no other place. */
      readonly namespace: string;
      readonly partition: string;
    }
  | { readonly kind: 'node'; readonly nodeId: string }
  | { readonly kind: 'introduction' }
  /** Access control is switched off (`acl { enabled = false }`). */
  | { readonly kind: 'unrestricted' };

/** Decides for one caller. Whatever no rule allows is denied. */
export interface Authorizer {
  readonly caller: Caller;
  allows(permission: Permission): boolean;
}

export function authorizerFor(caller: Caller): Authorizer {
  return { caller, allows: (permission) => decide(caller, permission) };
}

function decide(caller: Caller, permission: Permission): boolean {
  if (permission.kind === 'any') return permission.of.some((one) => decide(caller, one));
  if (permission.kind === 'all') return permission.of.every((one) => decide(caller, one));
  if (permission.kind === 'open') return true;
  switch (caller.kind) {
    case 'unrestricted':
      return true;
    case 'token':
      return caller.management;
    case 'node':
      // A node reads and changes itself, and nothing else (DESIGN §7).
      return permission.kind === 'own-node' && permission.nodeId === caller.nodeId;
    case 'introduction':
      return permission.kind === 'node-introduction';
    case 'anonymous':
      return false;
  }
}

/** How a refusal names the caller; never by a secret. */
export function describeCaller(caller: Caller): string {
  switch (caller.kind) {
    case 'anonymous':
      return 'the anonymous token, which is used when a request gives no token,';
    case 'token':
      return `token with AccessorID "${caller.accessor}"`;
    case 'node':
      return `node "${caller.nodeId}"`;
    case 'introduction':
      return 'the introduction token';
    case 'unrestricted':
      return 'the caller';
  }
}

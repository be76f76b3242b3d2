import type { Caller } from '../model/permission/caller.ts';
import {
  allOf,
  anyOf,
  describePermission,
  type Permission,
} from '../model/permission/permission.ts';
import { decide, questionOf, type RulePermission } from './decide.ts';
import type { RuleTable } from './rule-table.ts';

/** The decision where no rule applies. */
export type DefaultPolicy = 'allow' | 'deny';

/**
 * The basis of a decision: the caller, and the rules of its token. The anonymous caller has a token
 * too.
 */
export interface Subject {
  readonly caller: Caller;
  /** `undefined`: the caller has no token. */
  readonly rules: RuleTable | undefined;
  readonly defaultPolicy: DefaultPolicy;
}

/** Decides for one caller. The default policy decides where no rule applies. */
export interface Authorizer extends Subject {
  allows(permission: Permission): boolean;
}

export function authorizerFor(subject: Subject): Authorizer {
  // Routes give the same permission again for the same place (`contract/needs.ts`).
  let last: Permission | undefined;
  let isAllowed = false;
  return {
    ...subject,
    allows: (permission) => {
      if (permission !== last) {
        isAllowed = allows(subject, permission);
        last = permission;
      }
      return isAllowed;
    },
  };
}

/** `explain` repeats these decisions with their reasons; a property test holds the two equal. */
export function allows(subject: Subject, permission: Permission): boolean {
  switch (permission.kind) {
    case 'any':
      return permission.of.some((one) => allows(subject, one));
    case 'all':
      return permission.of.every((one) => allows(subject, one));
    case 'namespace':
    case 'resource':
    case 'named':
      return decideFor(subject, permission).allowed;
    default:
      return decideByCaller(subject.caller, permission);
  }
}

export type CallerPermission = Exclude<Permission, RulePermission | { kind: 'any' | 'all' }>;

/** Permissions that depend on the caller alone. */
export function decideByCaller(caller: Caller, permission: CallerPermission): boolean {
  if (permission.kind === 'open' || caller.kind === 'unrestricted') return true;
  if (caller.kind === 'token') return caller.management;
  if (permission.kind === 'own-node') {
    // A node reads and changes itself, and nothing else (docs/behaviour/nodes.md#registration).
    return caller.kind === 'node' && caller.nodeId === permission.nodeId;
  }
  if (permission.kind === 'workload') {
    const isThere = caller.kind === 'workload' && caller.namespace === permission.namespace;
    return isThere && (permission.allocation ?? caller.allocation) === caller.allocation;
  }
  return permission.kind === 'node-introduction' && caller.kind === 'introduction';
}

/** A caller without a token has no rules, and the default policy does not apply to it. */
export function decideFor({ caller, rules, defaultPolicy }: Subject, permission: RulePermission) {
  if (rules === undefined) return { allowed: caller.kind === 'unrestricted', entry: undefined };
  return decide(rules, questionOf(permission), defaultPolicy === 'allow');
}

export type Asker = Pick<Authorizer, 'caller' | 'allows'>;

/** The part of a permission that the caller lacks. */
function lackingOf(authorizer: Asker, permission: Permission): Permission {
  if (permission.kind !== 'all' && permission.kind !== 'any') return permission;
  const lacking = permission.of.filter((one) => !authorizer.allows(one));
  const parts = lacking.map((one) => lackingOf(authorizer, one));
  if (parts.length === 1) return parts[0]!;
  return permission.kind === 'all' ? allOf(...parts) : anyOf(...parts);
}

/** The missing permission in the words of a refusal to the caller. */
export function describeLack(authorizer: Asker, permission: Permission): string {
  const { caller } = authorizer;
  const home = caller.kind === 'token' ? caller : {};
  return describePermission(lackingOf(authorizer, permission), home);
}

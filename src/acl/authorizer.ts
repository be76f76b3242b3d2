import type { Caller } from '../model/permission/caller.ts';
import {
  allOf,
  anyOf,
  describePermission,
  type Permission,
} from '../model/permission/permission.ts';
import { decide, questionOf, type RulePermission } from './decide.ts';
import type { RuleTable } from './rule-table.ts';

/** What decides where no rule speaks. */
export type DefaultPolicy = 'allow' | 'deny';

/** What is decided by: the caller, and the rules of its token (anonymous ones have a token, too). */
export interface Subject {
  readonly caller: Caller;
  /** `undefined`: no token, no rules. */
  readonly rules: RuleTable | undefined;
  readonly defaultPolicy: DefaultPolicy;
}

/** Decides for one caller. Whatever no rule allows is up to the default policy. */
export interface Authorizer extends Subject {
  allows(permission: Permission): boolean;
}

export const authorizerFor = (subject: Subject): Authorizer => ({
  ...subject,
  allows: (permission) => allows(subject, permission),
});

/** `explain.ts` has its traced twin, and a property holds the two equal. */
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

/** What rules have no say in. */
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

/** What the subject's rules say. Who has no token has no rules, and no default is for it. */
export function decideFor({ caller, rules, defaultPolicy }: Subject, permission: RulePermission) {
  if (rules === undefined) return { allowed: caller.kind === 'unrestricted', entry: undefined };
  return decide(rules, questionOf(permission), defaultPolicy === 'allow');
}

export type Asker = Pick<Authorizer, 'caller' | 'allows'>;

/** The part of a permission that the caller lacks: of several permissions, those that it does not have. */
function lackingOf(authorizer: Asker, permission: Permission): Permission {
  if (permission.kind !== 'all' && permission.kind !== 'any') return permission;
  const lacking = permission.of.filter((one) => !authorizer.allows(one));
  const parts = lacking.map((one) => lackingOf(authorizer, one));
  if (parts.length === 1) return parts[0]!;
  return permission.kind === 'all' ? allOf(...parts) : anyOf(...parts);
}

/** As a refusal names it to the caller, who may live in another namespace than `default`. */
export function describeLack(authorizer: Asker, permission: Permission): string {
  const { caller } = authorizer;
  const home = caller.kind === 'token' ? caller.namespace : 'default';
  return describePermission(lackingOf(authorizer, permission), home);
}

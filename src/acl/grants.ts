import type { Rule } from '../language/rules/rule.ts';
import { managementPolicyId } from '../model/acl-token/acl-token.ts';
import { everything, exactly, nearness, type Pattern, patternOf } from './pattern.ts';
import { heldBy, resources } from './resources.ts';

/** A policy as far as deciding needs it: stored, or made up for an identity or a template. */
export interface Policy {
  readonly ID: string;
  readonly Name: string;
  /** It speaks for nothing outside, unless it lives in `default`. */
  readonly Namespace: string;
  readonly Partition: string;
  readonly rules: readonly Rule[];
}

/** What one rule of one policy gives or denies, with the place it speaks for. */
export interface Grant {
  readonly resource: string;
  readonly names: Pattern;
  readonly partitions: Pattern;
  readonly namespaces: Pattern;
  /** `undefined`: it denies. */
  readonly holds: readonly string[] | undefined;
  /** An intention that follows from a service rule; it gives way to one that is written. */
  readonly derived: boolean;
  readonly policy: Policy;
  readonly rule: Rule;
}

const readOnlyPolicyId = '00000000-0000-0000-0000-000000000002';

/** The rules of these speak for every namespace and partition there is. */
const isBuiltin = (id: string): boolean => id === managementPolicyId || id === readOnlyPolicyId;

/** Stands for every access there is, what later versions add included. */
export const everyAccess = '*';

/**
 * The grants of one policy.
 *
 * A policy speaks for its own namespace and partition. One that lives in `default` may reach into
 * others by `namespace` and `partition` blocks, and speaks for what lives in no namespace at all
 * (the operator, agents …). For one that lives elsewhere such rules count for nothing, or whoever
 * writes the policies of one team would rule the cluster. Its `acl` rule, unwrapped in `default`,
 * holds everywhere: it could link the management policy anyway.
 */
export function grantsOf(policy: Policy): Grant[] {
  if (policy.ID === managementPolicyId) return managementGrants(policy);
  return policy.rules.flatMap((rule) => {
    const { resource, access, capabilities, intentions } = rule;
    const place = placeOf(policy, rule);
    if (place === undefined) return [];
    const grant = (of: string, holds: Grant['holds'], derived = false): Grant => ({
      ...place,
      resource: of,
      holds,
      derived,
      policy,
      rule,
    });
    const own = grant(resource, heldBy(resource, access, capabilities));
    if (resource !== 'service') return [own];
    if (intentions !== undefined) {
      return [own, grant('intention', heldBy('intention', intentions))];
    }
    // Reading or writing a service lets one read its intentions; writing them is asked for alone.
    const follows = access === 'deny' ? undefined : heldBy('intention', 'read');
    return [own, grant('intention', follows, true)];
  });
}

/**
 * The management policy gives everything there is, whatever words its rules have for it. Still, a
 * narrower rule of another policy weighs more, and a denial of everything as much.
 */
function managementGrants(policy: Policy): Grant[] {
  return Object.keys(resources).flatMap((resource) => {
    const written = { intention: 'service', variable: 'namespace' }[resource] ?? resource;
    const rule = policy.rules.find((one) => one.resource === written) ?? policy.rules[0];
    if (rule === undefined) return [];
    const everywhere = { names: everything, partitions: everything, namespaces: everything };
    return [{ ...everywhere, resource, holds: [everyAccess], derived: false, policy, rule }];
  });
}

type RulePlace = Pick<Grant, 'names' | 'partitions' | 'namespaces'>;

function placeOf(policy: Policy, rule: Rule): RulePlace | undefined {
  const names = patternOf(rule);
  if (isBuiltin(policy.ID)) return { names, partitions: everything, namespaces: everything };
  const { Namespace: home } = policy;
  const { resource, namespace, partition } = rule;
  const partitions = reach(policy.Partition, partition && patternOf(partition));
  if (partitions === undefined) return undefined;
  const everywhere = { partitions, namespaces: everything };
  if (resource === 'namespace') {
    const narrowed = reach(home, names);
    return narrowed && { ...everywhere, names: narrowed };
  }
  const { unwrapped } = resources[resource]!;
  if (unwrapped === 'none') {
    return home === 'default' && namespace === undefined ? { ...everywhere, names } : undefined;
  }
  if (unwrapped === 'everywhere' && home === 'default' && namespace === undefined) {
    return { ...everywhere, names };
  }
  const namespaces = reach(home, namespace && patternOf(namespace));
  return namespaces && { names, partitions, namespaces };
}

/** How far a block around a rule reaches, for a policy that lives in `home`. */
function reach(home: string, wrapped: Pattern | undefined): Pattern | undefined {
  if (wrapped === undefined) return exactly(home);
  if (home === 'default') return wrapped;
  return nearness(wrapped, home) < 0 ? undefined : exactly(home);
}

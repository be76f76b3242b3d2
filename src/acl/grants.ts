import type { Rule } from '../language/rules/rule.ts';
import { managementPolicyId } from '../model/acl-token/acl-token.ts';
import { everything, exactly, nearness, type Pattern, patternOf } from './pattern.ts';
import { heldBy, resources } from './resources.ts';

/**
 * The part of a policy that decisions need. The policy is stored, or stands for an identity or a
 * template.
 */
export interface Policy {
  readonly ID: string;
  readonly Name: string;
  /** Rules of a policy outside `default` hold in its own namespace only. */
  readonly Namespace: string;
  readonly Partition: string;
  readonly rules: readonly Rule[];
}

/**
 * The access that one rule of a policy gives or denies, and the namespaces and partitions where it
 * does.
 */
export interface Grant {
  readonly resource: string;
  readonly names: Pattern;
  readonly partitions: Pattern;
  readonly namespaces: Pattern;
  /** `undefined`: the rule denies. */
  readonly holds: readonly string[] | undefined;
  /**
   * Read access to intentions, derived from a service rule. A written `intentions` overrides it.
   */
  readonly derived: boolean;
  readonly policy: Policy;
  readonly rule: Rule;
}

const readOnlyPolicyId = '00000000-0000-0000-0000-000000000002';

/** Rules of the builtin policies hold in every namespace and partition. */
const isBuiltin = (id: string): boolean => id === managementPolicyId || id === readOnlyPolicyId;

/** Every access, including those of later versions. */
export const everyAccess = '*';

/**
 * The grants of one policy.
 *
 * Rules hold in the namespace and partition of the policy. A policy in `default` reaches other
 * places by `namespace` and `partition` blocks, and its rules cover resources outside all
 * namespaces (operator, agent …). Such rules have no effect in a policy of another namespace:
 * otherwise the author of a team's policies would rule the cluster. An `acl` rule in `default`,
 * outside a `namespace` block, holds everywhere, because its holder could link the management
 * policy anyway.
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
    // Access to a service includes read access to its intentions. Write access has to be given
    // explicitly.
    const follows = access === 'deny' ? undefined : heldBy('intention', 'read');
    return [own, grant('intention', follows, true)];
  });
}

/**
 * The management policy gives all access to all resources. A narrower rule of another policy still
 * overrides it, and so does a denial with the same label.
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

/** The reach of a block around a rule, for a policy in the namespace or partition `home`. */
function reach(home: string, wrapped: Pattern | undefined): Pattern | undefined {
  if (wrapped === undefined) return exactly(home);
  if (home === 'default') return wrapped;
  return nearness(wrapped, home) < 0 ? undefined : exactly(home);
}

import { contentHash } from '../acl-policy/content-hash.ts';
import { checkedIdentities } from '../acl-token/check-identities.ts';
import type { Identities } from '../acl-token/identities.ts';
import type { LinkFaults } from '../acl-token/write.ts';
import { checkValues } from '../check-values.ts';
import { complete } from '../complete.ts';
import { type Fault, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Report } from '../path.ts';
import type { Input } from '../schema.ts';
import { type AclRole, AclRoleSchema, type PresentedAclRole } from './acl-role.ts';

export type RoleRequest = Input<PresentedAclRole>;

export interface RoleContent extends Identities {
  readonly Name: string;
  readonly Description: string;
  readonly Policies: AclRole['Policies'];
}

export const roleHash = (content: RoleContent): string =>
  contentHash([
    content.Name,
    content.Description,
    content.Policies.map(({ ID }) => ID),
    content.ServiceIdentities,
    content.NodeIdentities,
    content.TemplatedPolicies,
  ]);

export interface CheckedRole {
  readonly given: PresentedAclRole;
  readonly identities: Identities;
}

/**
 * The checked request for a role. A refusal tells the `known` faults first, and at its end the faults that
 * `linkFaults` finds in the links to policies. Source: docs/contract/access-control.md#roles.
 * @throws RosterError `invalid-body`
 */
export function checkedRole(
  request: RoleRequest,
  known: readonly Fault[],
  linkFaults: LinkFaults,
): CheckedRole {
  const given = complete(AclRoleSchema, request);
  const faults: Fault[] = [...known, ...checkValues(AclRoleSchema, request)];
  const report: Report = (path, message) => faults.push(faultAt(path, message));
  const name = below(null, 'Name');
  if (given.Name === '') report(name, 'is required');
  else if (given.Name.length > limits.names.lengthMax) {
    report(name, `must be at most ${limits.names.lengthMax} characters long`);
  } else if (!/^[A-Za-z0-9_-]+$/.test(given.Name)) {
    report(name, 'must be made of letters, digits, "-" and "_"');
  }
  const identities = checkedIdentities(given, { noun: 'role', isLocal: false }, report);
  if (faults.length > 0) throw invalid('invalid-body', [...faults, ...linkFaults(given)]);
  return { given, identities };
}

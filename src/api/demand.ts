import { type Authorizer, describeCaller } from '../acl/authorizer.ts';
import { describePermission, type Permission } from '../acl/permission.ts';
import { refusal } from '../model/errors.ts';
import type { Input } from './route.ts';
import type { Trail } from './trail.ts';

/**
 * Notes what is asked for and how it was decided.
 * @throws RosterError `permission-denied`
 */
export function demand(
  authorizer: Authorizer,
  permission: Permission,
  place: Pick<Input, 'namespace'> | undefined,
  trail: Trail,
): void {
  trail.permission = permission;
  if (place !== undefined) trail.namespace = place.namespace;
  trail.isAllowed = authorizer.allows(permission);
  if (trail.isAllowed) return;
  throw refusal('permission-denied', {
    caller: describeCaller(authorizer.caller),
    permission: describePermission(permission),
  });
}

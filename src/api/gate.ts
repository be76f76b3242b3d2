import { type Authorizer, describeLack } from '../acl/authorizer.ts';
import { refusal } from '../model/errors.ts';
import { type Caller, describeCaller } from '../model/permission/caller.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Request } from './http.ts';
import { foreignHeader, type OwnHosts } from './own-site.ts';
import type { Input } from './route.ts';
import type { Seen } from './trail.ts';

/**
 * Lets callers with the permission through. Callers without a token also have to be on this
 * server's own site.
 */
export class Gate {
  readonly #hosts: OwnHosts;

  /** `hosts`: the host names of this server. */
  constructor(hosts: OwnHosts) {
    this.#hosts = hosts;
  }

  /**
   * Records the permission and the decision in the trail.
   * @throws RosterError `permission-denied`, `foreign-site`
   */
  pass(
    authorizer: Authorizer,
    permission: Permission,
    place: Pick<Input, 'namespace'> | undefined,
    { request, trail }: Pick<Seen, 'request' | 'trail'>,
  ): void {
    const { caller } = authorizer;
    trail.permission = permission;
    if (place !== undefined) trail.namespace = place.namespace;
    trail.isAllowed = authorizer.allows(permission);
    if (!trail.isAllowed) {
      throw refusal('permission-denied', {
        caller: describeCaller(caller),
        permission: describeLack(authorizer, permission),
      });
    }
    if (isAmbient(caller) && (permission.kind !== 'open' || mayAct(request))) {
      this.#requireOwnSite(request);
    }
  }

  #requireOwnSite(request: Request): void {
    const foreign = foreignHeader(request, this.#hosts);
    if (foreign === undefined) return;
    const { name, value } = foreign;
    throw refusal('foreign-site', { header: name, value: value.slice(0, shownLength) });
  }
}

/** Permissions without a token: any page in a user's browser would have them too. */
const isAmbient = ({ kind }: Caller): boolean => kind === 'anonymous' || kind === 'unrestricted';

const mayAct = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD';

const shownLength = 256;

import { type Authorizer, describeLack } from '../acl/authorizer.ts';
import { refusal } from '../model/errors.ts';
import { type Caller, describeCaller } from '../model/permission/caller.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Request } from './http.ts';
import { foreignHeader, type OwnHosts } from './own-site.ts';
import type { Input } from './route.ts';
import type { Seen } from './trail.ts';

/** Lets through who has the permission, and, where no token is needed for it, asks from the own site. */
export class Gate {
  readonly #hosts: OwnHosts;

  /** `hosts`: names under which this server is asked. */
  constructor(hosts: OwnHosts) {
    this.#hosts = hosts;
  }

  /**
   * Notes what is asked for and how it was decided.
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

/** Rights that come with no token at all: a page in somebody's browser would have them, too. */
const isAmbient = ({ kind }: Caller): boolean => kind === 'anonymous' || kind === 'unrestricted';

const mayAct = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD';

const shownLength = 256;

import { refusal } from '../../model/errors.ts';
import { everyNamespace, type Scope } from '../../model/namespace/namespace.ts';
import type { Caller } from '../../model/permission/caller.ts';
import {
  type Access,
  open,
  type Permission,
  resourceAccess,
} from '../../model/permission/permission.ts';
import { type LinkNames, linkNames } from '../../server/acl/links.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Input, PageStart } from '../route.ts';

type Asking = Pick<Input, 'namespace' | 'partition'> & { readonly caller: Caller };

/** @throws RosterError `acl-disabled` where access control is off: there is nothing to manage. */
export function requireAcl({ caller }: { readonly caller: Caller }): void {
  if (caller.kind === 'unrestricted') throw refusal('acl-disabled');
}

const aclAccess =
  (access: Access) =>
  (input: Asking): Permission => {
    requireAcl(input);
    return resourceAccess('acl', access, {
      namespace: input.namespace,
      partition: input.partition,
    });
  };

/** What every route of access control needs, in the place that the request selects. */
export const aclRead = aclAccess('read');
export const aclWrite = aclAccess('write');

/** Of a list: with `ns=*` everyone sees what each namespace lets them see. */
export function aclList(input: Asking): Permission {
  requireAcl(input);
  return input.namespace === everyNamespace ? open : aclRead(input);
}

interface Placed {
  readonly Namespace: string;
  readonly Partition: string;
}

/** Of one row of such a list. */
export const aclVisible = ({ Namespace: namespace, Partition: partition }: Placed): Permission =>
  resourceAccess('acl', 'read', { namespace, partition });

export const scopeOf = ({ namespace, partition }: Scope): Scope => ({ namespace, partition });

/** Lists may be narrowed to ids that begin so. */
export const prefixQuery = {
  prefix: { kind: 'string', default: '', description: 'The beginning of the id.' },
} as const;

/** The range of a list, and where its page begins. */
export const placedScan = (
  { namespace, partition }: Scope,
  { from, reverse }: PageStart,
  idPrefix = '',
) => ({
  ...(namespace === everyNamespace
    ? { prefix: [partition] }
    : { prefix: [partition, namespace], text: idPrefix.toLowerCase() }),
  ...(from && { from }),
  reverse,
});

const names = new WeakMap<Snapshot, LinkNames>();

/** The names of links as of a snapshot, each looked up once. */
export function namesIn(snapshot: Snapshot): LinkNames {
  let known = names.get(snapshot);
  if (known === undefined) {
    known = linkNames(snapshot);
    names.set(snapshot, known);
  }
  return known;
}

import { everyNamespace, type Scope } from '../../model/namespace/namespace.ts';
import { type Permission, resourceAccess } from '../../model/permission/permission.ts';
import { type LinkNames, linkNames } from '../../server/acl/links.ts';
import type { Snapshot } from '../../state/types.ts';
import type { PageStart } from '../route.ts';

interface Placed {
  readonly Namespace: string;
  readonly Partition: string;
}

/** Of one row of such a list. */
export const aclVisible = ({ Namespace: namespace, Partition: partition }: Placed): Permission =>
  resourceAccess('acl', 'read', { namespace, partition });

export const scopeOf = ({ namespace, partition }: Scope): Scope => ({ namespace, partition });

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

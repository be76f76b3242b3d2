import { everyNamespace, type Scope } from '../../model/namespace/namespace.ts';
import { type LinkNames, linkNames } from '../../server/acl/links.ts';
import type { Snapshot } from '../../state/types.ts';
import type { PageStart } from '../route.ts';

export const scopeOf = ({ namespace, partition }: Scope): Scope => ({ namespace, partition });

/** The range of a page. */
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

/** The names of linked policies and roles, each looked up once per snapshot. */
export function namesIn(snapshot: Snapshot): LinkNames {
  let known = names.get(snapshot);
  if (known === undefined) {
    known = linkNames(snapshot);
    names.set(snapshot, known);
  }
  return known;
}

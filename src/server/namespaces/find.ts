import { refusal } from '../../model/errors.ts';
import { inNamespace, namespaces } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/** @throws RosterError `namespace-not-found` */
export function requireNamespace(snapshot: Snapshot, name: string): void {
  const known = snapshot.table(namespaces).has(...inNamespace(name));
  if (!known) throw refusal('namespace-not-found', { namespace: name });
}

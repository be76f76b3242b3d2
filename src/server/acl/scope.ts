import { refusal } from '../../model/errors.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { quote } from '../../model/path.ts';
import { inScope, namespaces, partitions } from '../../state/tables.ts';
import type { Snapshot, Stamps, TableDefinition, Transaction } from '../../state/types.ts';
import type { Given } from '../checks.ts';

/**
 * Checks that the partition and the namespace of a new record exist.
 * @throws RosterError `partition-not-found`, `namespace-not-found`
 */
export function requireScope(snapshot: Snapshot, { partition, namespace }: Scope): void {
  if (!snapshot.table(partitions).has(partition)) {
    throw refusal('partition-not-found', { partition });
  }
  if (!snapshot.table(namespaces).has(partition, namespace)) {
    throw refusal('namespace-not-found', { namespace });
  }
}

/** The id of a path, in lower case, as ids are stored. @throws RosterError `invalid-path` */
export function requireUuid(id: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id.toLowerCase();
  throw refusal('invalid-path', {
    reason: `must hold the UUID of the record, and has ${quote(id)} in its place`,
  });
}

/** The id of the path; the body may leave it out. @throws RosterError `invalid-path`, `id-mismatch` */
export function requireSameId(noun: string, id: Given, pathId: string): string {
  const uuid = requireUuid(pathId);
  if (!id || id.toLowerCase() === uuid) return uuid;
  throw refusal('id-mismatch', { noun, body: id, path: pathId });
}

/** @throws RosterError `name-taken` */
export function requireFreeName<R extends Stamps>(
  transaction: Transaction,
  table: TableDefinition<R, 'name'>,
  { noun, scope, name }: { readonly noun: string; readonly scope: Scope; readonly name: string },
): void {
  const taken = transaction
    .table(table)
    .by('name')
    .scan({ prefix: inScope(scope, name) });
  for (const _ of taken) throw refusal('name-taken', { noun, name });
}

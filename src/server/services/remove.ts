/**
 * Service registrations are removed in the very transaction that ends their allocation or node, so
 * that no client finds an instance that is known to be gone.
 * Source: docs/guides/services.md#when-an-instance-is-listed.
 */
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import { refusal } from '../../model/errors.ts';
import type { ServiceRegistration } from '../../model/service-registration/service-registration.ts';
import { inNamespace, serviceRegistrations } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import type { Move } from '../scheduling/job-summary.ts';

/**
 * Removes the services of allocations that have ended or are to end: no client is to be sent there
 * any more.
 */
export function removeServicesOfEnded(transaction: Transaction, moves: readonly Move[]): void {
  for (const { before, after } of moves) {
    if (before === undefined || !isTerminal(after)) continue;
    removeServicesOf(transaction, after);
  }
}

export function removeServicesOf(transaction: Transaction, { ID }: Pick<Allocation, 'ID'>): void {
  const range = { prefix: [ID] };
  removeAll(transaction, [...transaction.table(serviceRegistrations).by('allocation').scan(range)]);
}

/**
 * Removes the services of a node that is down or purged. A node that is disconnected may still
 * serve.
 */
export function removeServicesOfNode(transaction: Transaction, nodeId: string): void {
  const range = { prefix: [nodeId] };
  removeAll(transaction, [...transaction.table(serviceRegistrations).by('node').scan(range)]);
}

function removeAll(transaction: Transaction, rows: readonly ServiceRegistration[]): void {
  const table = transaction.table(serviceRegistrations);
  for (const row of rows) table.delete(...keyOf(row));
}

export const keyOf = ({ Namespace, ServiceName, ID }: ServiceRegistration) =>
  inNamespace(Namespace, ServiceName, ID);

/**
 * Removes one instance by hand: a registration that was left behind. Its node registers it again
 * when its allocation changes or the node registers anew.
 * Source: docs/guides/services.md#when-an-instance-is-listed.
 * @throws RosterError `service-not-found`
 */
export async function removeService(
  { state }: ServerContext,
  {
    namespace,
    name,
    id,
  }: { readonly namespace: string; readonly name: string; readonly id: string },
): Promise<{ readonly index: number }> {
  const { index } = await state.write((transaction) => {
    const isDeleted = transaction
      .table(serviceRegistrations)
      .delete(...inNamespace(namespace, name, id));
    if (!isDeleted) throw refusal('service-not-found', { service: name, id, namespace });
  });
  return { index };
}

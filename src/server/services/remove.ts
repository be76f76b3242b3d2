/**
 * Registrations go in the very transaction in which what they tell of is over, so that nobody finds
 * an instance that is known not to be there.
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

/** Those of allocations that ended, or that are to end: nobody is to be sent there any more. */
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

/** Those of a node that is down or forgotten. What is only disconnected may well be there. */
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
 * Takes one instance out of the list by hand. Its node tells of it again when something of its
 * allocation changes or the node registers anew: it is for what is left behind.
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

import type { Allocation } from '../../model/allocation/allocation.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import { type Fault, invalid } from '../../model/errors.ts';
import { isKnownAlive, type Node } from '../../model/node/node.ts';
import { isSame } from '../../model/same.ts';
import type {
  ServiceRegistration,
  ServicesReport,
  ToldService,
} from '../../model/service-registration/service-registration.ts';
import { allocations, inNamespace, nodes, serviceRegistrations } from '../../state/tables.ts';
import type { Transaction, Unstamped } from '../../state/types.ts';
import { rowWithId } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import { keyOf, removeServicesOf } from './remove.ts';

/**
 * Stores a node's report of its services: for each allocation, all services that it has now.
 * Repeating a report changes nothing, so a node may report everything again when in doubt. The
 * batch is one transaction. An allocation of another node refuses all of it; an allocation that is
 * gone or is to end has no services, whatever the report says.
 * Source: docs/guides/services.md#when-an-instance-is-listed.
 * @throws RosterError `invalid-body`
 */
export async function reportServices(
  { state }: ServerContext,
  nodeId: string,
  reports: readonly ServicesReport[],
): Promise<{ readonly index: number }> {
  const { index } = await state.write((transaction) => {
    const node = transaction.table(nodes).get(nodeId);
    // The node was given up since it sent the report: its instances count as gone.
    if (node === undefined || !isKnownAlive(node)) return;
    for (const { allocation, services } of ownReports(transaction, nodeId, reports)) {
      if (isTerminal(allocation)) removeServicesOf(transaction, allocation);
      else replaceServices(transaction, node, allocation, services);
    }
  });
  return { index };
}

interface OwnReport {
  readonly allocation: Allocation;
  readonly services: readonly ToldService[];
}

/** @throws RosterError `invalid-body` naming every allocation of another node */
function ownReports(
  transaction: Transaction,
  nodeId: string,
  reports: readonly ServicesReport[],
): OwnReport[] {
  const faults: Fault[] = [];
  const own = reports.flatMap(({ AllocID, Services: services }, position) => {
    const allocation = rowWithId(transaction.table(allocations), AllocID);
    if (allocation === undefined) return [];
    if (allocation.NodeID === nodeId) return [{ allocation, services }];
    const field = `Allocations[${position}].AllocID`;
    const message = `${field} is an allocation of another node, "${allocation.NodeID}"`;
    faults.push({ pointer: `/Allocations/${position}/AllocID`, message });
    return [];
  });
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return own;
}

function replaceServices(
  transaction: Transaction,
  node: Node,
  allocation: Allocation,
  services: readonly ToldService[],
): void {
  const table = transaction.table(serviceRegistrations);
  const wanted = new Map(
    services.map((service) => {
      const row = registrationOf(node, allocation, service);
      return [inNamespace(row.Namespace, row.ServiceName, row.ID).join('\0'), row] as const;
    }),
  );
  const known = [...table.by('allocation').scan({ prefix: [allocation.ID] })];
  for (const row of known) {
    const key = keyOf(row);
    const next = wanted.get(key.join('\0'));
    if (next === undefined) table.delete(...key);
    else if (isSameRow(row, next)) wanted.delete(key.join('\0'));
  }
  for (const row of wanted.values()) table.put(row);
}

const registrationOf = (
  { ID: NodeID, Datacenter }: Node,
  { ID: AllocID, Namespace, JobID }: Allocation,
  { ID, ServiceName, ...service }: ToldService,
): Unstamped<ServiceRegistration> => ({
  ID,
  ServiceName,
  Namespace,
  NodeID,
  Datacenter,
  JobID,
  AllocID,
  ...service,
});

function isSameRow(row: ServiceRegistration, next: Unstamped<ServiceRegistration>): boolean {
  const { CreateIndex, ModifyIndex } = row;
  return isSame(row, { ...next, CreateIndex, ModifyIndex });
}

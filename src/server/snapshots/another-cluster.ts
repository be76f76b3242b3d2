import type { World } from '../../base/ports.ts';
import {
  allocations,
  importedInstances,
  importedServices,
  nodes,
  peeringConnections,
  peeringFarewells,
  peeringSecrets,
  peerings,
  serviceRegistrations,
} from '../../state/tables.ts';
import type { TableDefinition, Transaction } from '../../state/types.ts';
import { createEvaluation, evaluatedJob } from '../scheduling/create-evaluation.ts';

const ofOthers = [
  nodes,
  serviceRegistrations,
  peerings,
  peeringConnections,
  peeringFarewells,
  peeringSecrets,
  importedServices,
  importedInstances,
] as unknown as readonly TableDefinition[];

/**
 * Deletes what belongs to the cluster that the rows came from: its nodes, which may still run for it, and its
 * peerings. Its allocations are lost, and evaluations place them on the nodes that register here.
 * Source: docs/operations/backup.md#on-another-machine.
 */
export function becomeAnotherCluster(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
): void {
  for (const definition of ofOthers) {
    const table = transaction.table(definition);
    for (const row of table.scan()) table.delete(...definition.key(row));
  }
  const seen = new Set<string>();
  for (const allocation of transaction.table(allocations).by('occupant').scan()) {
    const { Namespace, JobID } = allocation;
    const name = `${Namespace}\0${JobID}`;
    if (seen.has(name)) continue;
    seen.add(name);
    const job = evaluatedJob(transaction, allocation);
    createEvaluation(transaction, world, { job, triggeredBy: 'node-update' });
  }
}

import { complete } from '../../model/complete.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import {
  builtinPools,
  isBuiltinPool,
  type NodePool,
  type NodePoolRequest,
  NodePoolSchema,
  poolNameFault,
  requirePool,
} from '../../model/node-pool/node-pool.ts';
import { jobs, nodePools, nodes } from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import { requireRoom, requireSameName } from '../checks.ts';
import type { ServerContext } from '../context.ts';

/** Stores the builtin pools, and the pools of nodes that versions without pools registered. */
export function seedNodePools(transaction: Transaction): void {
  const table = transaction.table(nodePools);
  for (const builtin of builtinPools) {
    if (!table.has(builtin.Name)) table.put(complete(NodePoolSchema, builtin));
  }
  for (const { NodePool } of transaction.table(nodes).scan()) bringPool(transaction, NodePool);
}

/** Makes the pool of a node if it does not exist. @throws RosterError `limit-reached` */
export function bringPool(transaction: Transaction, name: string): void {
  const table = transaction.table(nodePools);
  if (table.has(name)) return;
  // Bounds the state against nodes that invent pools.
  requireRoom('node pool', table.size, limits.nodePool.countMax);
  table.put(complete(NodePoolSchema, { Name: name }));
}

/** `name` may be any text, even one that no pool can have. */
export const isNodePool = (snapshot: Snapshot, name: string): boolean =>
  poolNameFault(name) === undefined && snapshot.table(nodePools).has(name);

/** @throws RosterError `node-pool-not-found` */
export function requireNodePool(snapshot: Snapshot, name: string): void {
  if (!isNodePool(snapshot, name)) throw refusal('node-pool-not-found', { pool: name });
}

/**
 * Makes a pool or replaces its fields. `pathName` is empty if the path names none.
 * @throws RosterError `id-mismatch`, `invalid-body`, `builtin-protected`, `limit-reached`
 */
export async function writeNodePool(
  { state }: ServerContext,
  pathName: string,
  request: NodePoolRequest,
): Promise<Written<NodePool>> {
  requireSameName('node pool', request.Name, pathName);
  const { Name, Description, Meta, SchedulerConfiguration } = complete(NodePoolSchema, {
    ...request,
    Name: request.Name || pathName,
  });
  requirePool({ Name, Meta });
  requireOrdinary(Name, 'it cannot be changed');
  return state.write((transaction) => {
    const table = transaction.table(nodePools);
    if (!table.has(Name)) requireRoom('node pool', table.size, limits.nodePool.countMax);
    return table.put({ Name, Description, Meta, SchedulerConfiguration });
  });
}

/**
 * Deletes a pool without nodes and without jobs.
 * @throws RosterError `node-pool-not-found`, `builtin-protected`, `in-use`
 */
export async function deleteNodePool(
  { state }: ServerContext,
  name: string,
): Promise<Written<boolean>> {
  requireOrdinary(name, 'it cannot be deleted');
  return state.write((transaction) => {
    requireNodePool(transaction, name);
    const content = contentOf(transaction, name);
    if (content !== undefined) {
      throw refusal('in-use', { noun: 'node pool', name, reason: `it still has ${content}` });
    }
    return transaction.table(nodePools).delete(name);
  });
}

function requireOrdinary(name: string, reason: string): void {
  if (isBuiltinPool(name)) throw refusal('builtin-protected', { noun: 'node pool', name, reason });
}

/** The content of the pool, in words. Dead jobs do not count. */
function contentOf(snapshot: Snapshot, name: string): string | undefined {
  const range = { prefix: [name] };
  const hasNodes = !snapshot.table(nodes).by('pool').scan(range).next().done;
  let hasJobs = false;
  for (const { Status } of snapshot.table(jobs).by('pool').scan(range)) {
    hasJobs ||= Status !== 'dead';
  }
  const found = [...(hasNodes ? ['nodes'] : []), ...(hasJobs ? ['jobs'] : [])];
  return found.length === 0 ? undefined : found.join(' and ');
}

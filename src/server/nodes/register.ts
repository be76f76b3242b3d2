import { instantFromMs } from '../../base/instant.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { computedClass } from '../../model/node/computed-class.ts';
import { isKnownAlive, type Node, type NodeRegistration } from '../../model/node/node.ts';
import { registrationFaults } from '../../model/node/validate.ts';
import { isSame } from '../../model/same.ts';
import { allocations, nodes } from '../../state/tables.ts';
import type { Snapshot, Transaction, Unstamped } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { bringPool } from '../node-pools/pools.ts';
import { evaluateNode } from './evaluate.ts';
import { useIntroduction } from './introductions.ts';
import { setNodeStatus } from './status.ts';

/** How a node proves its identity. */
export interface NodeProof {
  /** The node's own secret, by which it is known from then on. */
  readonly secret: string;
  /** The secret of an introduction token, if the node shows one. */
  readonly introduction: string | undefined;
}

/**
 * Registers a node, or updates its fields. Registering again without changes does nothing, so a
 * node may repeat a registration whose answer it did not get.
 * Source: docs/behaviour/nodes.md#registration, #away-and-back.
 * @throws RosterError `invalid-body`, `node-secret-mismatch` when the id is another node's,
 * `id-taken` when the secret is, `node-name-taken`, or `introduction-refused`
 */
export async function registerNode(
  { state, world }: ServerContext,
  registration: NodeRegistration,
  { secret, introduction }: NodeProof,
): Promise<{ readonly index: number }> {
  const faults = registrationFaults(registration, secret);
  if (faults.length > 0) throw invalid('invalid-body', faults);
  const SecretHash = world.secrets.hash(secret);
  const { index } = await state.write((transaction) => {
    const table = transaction.table(nodes);
    const existing = table.get(registration.ID);
    if (existing !== undefined && !world.secrets.equal(existing.SecretHash, SecretHash)) {
      throw refusal('node-secret-mismatch', { node: registration.ID });
    }
    if (existing === undefined) {
      requireOwnSecret(transaction, SecretHash);
      if (introduction !== undefined) {
        useIntroduction(transaction, world, introduction, registration);
      }
    }
    if (existing?.Name !== registration.Name) requireOwnName(transaction, registration);
    bringPool(transaction, registration.NodePool);
    const nowMs = world.clock.nowMs();
    const merged: Unstamped<Node> = {
      SchedulingEligibility: 'eligible',
      Drain: false,
      DrainStrategy: null,
      LastDrain: null,
      Events: [],
      StatusUpdatedAt: instantFromMs(nowMs),
      StatusDescription: '',
      ...existing,
      ...registration,
      SecretHash,
      ComputedClass: computedClass(registration),
      Status: existing?.Status ?? 'initializing',
    };
    if (existing === undefined || !isSameNode(existing, merged)) table.put(merged);
    const isChanged =
      existing?.ComputedClass !== merged.ComputedClass ||
      !isSame(existing.HostVolumes, merged.HostVolumes);
    const isBack = takeIn(transaction, nowMs, registration.ID, existing);
    if (isChanged || isBack) evaluateNode(transaction, world, registration.ID);
  });
  return { index };
}

/**
 * Permissions and constraints go by node names: a node that took the name of another one would take
 * its place.
 */
function requireOwnName(snapshot: Snapshot, { ID, Name }: NodeRegistration): void {
  for (const other of snapshot
    .table(nodes)
    .by('name')
    .scan({ prefix: [Name] })) {
    if (other.ID === ID || !isKnownAlive(other)) continue;
    throw refusal('node-name-taken', { name: Name, node: other.ID, status: other.Status });
  }
}

/** A secret identifies a single node. */
function requireOwnSecret(transaction: Transaction, hash: string): void {
  for (const _ of transaction
    .table(nodes)
    .by('secret')
    .scan({ prefix: [hash] })) {
    throw refusal('id-taken', { field: 'SecretID' });
  }
}

/**
 * Sets the status of a node that has registered: before it is ready, a node that comes back has to
 * report its unknown allocations. `true`: the status changed.
 */
function takeIn(
  transaction: Transaction,
  nowMs: number,
  nodeId: string,
  existing: Node | undefined,
): boolean {
  if (existing?.Status === 'ready') return false;
  const status = isSynced(transaction, nodeId) ? 'ready' : 'initializing';
  const message = existing === undefined ? 'Node registered' : 'Node re-registered';
  return setNodeStatus(transaction, nowMs, nodeId, { status, message });
}

/** Whether no allocation of the node is unknown. */
function isSynced(snapshot: Snapshot, nodeId: string): boolean {
  const range = { prefix: [nodeId] };
  for (const allocation of snapshot.table(allocations).by('occupant').scan(range)) {
    if (allocation.ClientStatus === 'unknown') return false;
  }
  return true;
}

/** Makes a node that came back ready once it has reported all its allocations. */
export async function noteSynced({ state, world }: ServerContext, nodeId: string): Promise<void> {
  if (state.head().table(nodes).get(nodeId)?.Status !== 'initializing') return;
  await state.write((transaction) => {
    if (transaction.table(nodes).get(nodeId)?.Status !== 'initializing') return;
    if (!isSynced(transaction, nodeId)) return;
    const nowMs = world.clock.nowMs();
    const message = 'Node told how its allocations fare';
    setNodeStatus(transaction, nowMs, nodeId, { status: 'ready', message });
    evaluateNode(transaction, world, nodeId);
  });
}

function isSameNode(existing: Node, merged: Unstamped<Node>): boolean {
  const told = ({ CreateIndex: _, ModifyIndex: __, ...rest }: Partial<Node>) =>
    JSON.stringify(Object.entries(rest).sort(([left], [right]) => (left < right ? -1 : 1)));
  return told(existing) === told(merged);
}

import { instantFromMs } from '../../base/instant.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { computedClass } from '../../model/node/computed-class.ts';
import {
  type Node,
  type NodeRegistration,
  type NodeStatus,
  withNodeEvent,
} from '../../model/node/node.ts';
import { below, pointerOf } from '../../model/path.ts';
import { nodes } from '../../state/tables.ts';
import type { Transaction, Unstamped } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { evaluateJobsOnNode } from './evaluate.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Brings a node into the fleet, or takes in what it now tells of itself. Sending the same again
 * changes nothing, so that a node may repeat a registration whose answer it did not get.
 * Source: DESIGN §7.
 * @throws RosterError `invalid-body`, or `node-secret-mismatch` when the id is another node's.
 */
export async function registerNode(
  { state, world }: ServerContext,
  registration: NodeRegistration,
  secret: string,
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
    const now = instantFromMs(world.clock.nowMs());
    const joined = existing === undefined;
    const merged: Unstamped<Node> = {
      SchedulingEligibility: 'eligible',
      Drain: false,
      Events: [],
      StatusUpdatedAt: now,
      StatusDescription: '',
      ...existing,
      ...registration,
      SecretHash,
      ComputedClass: computedClass(registration),
      Status: existing?.Status ?? 'initializing',
    };
    if (joined || !isSameNode(existing, merged)) table.put(merged);
    const message = joined ? 'Node registered' : 'Node re-registered';
    setNodeStatus(transaction, world.clock.nowMs(), registration.ID, 'ready', message);
    if (!joined && existing.Status === 'ready') return;
    evaluateJobsOnNode(transaction, world, registration.ID);
  });
  return { index };
}

/** Moves the node to a status, with an event that says why. Nothing when it is there already. */
export function setNodeStatus(
  transaction: Transaction,
  nowMs: number,
  nodeId: string,
  status: NodeStatus,
  message: string,
): boolean {
  const table = transaction.table(nodes);
  const node = table.get(nodeId);
  if (node === undefined || node.Status === status) return false;
  const event = {
    Message: message,
    Subsystem: 'Cluster',
    Details: {},
    Timestamp: instantFromMs(nowMs),
    CreateIndex: transaction.index,
  };
  table.put({
    ...node,
    Status: status,
    StatusUpdatedAt: event.Timestamp,
    Events: withNodeEvent(node.Events, event),
  });
  return true;
}

function isSameNode(existing: Node, merged: Unstamped<Node>): boolean {
  const told = ({ CreateIndex: _, ModifyIndex: __, ...rest }: Partial<Node>) =>
    JSON.stringify(Object.entries(rest).sort(([left], [right]) => (left < right ? -1 : 1)));
  return told(existing) === told(merged);
}

function registrationFaults(node: NodeRegistration, secret: string): Fault[] {
  const faults: Fault[] = [];
  const check = (holds: boolean, pointer: string, message: string) => {
    if (!holds) faults.push({ pointer, message });
  };
  check(uuid.test(node.ID), '/Node/ID', 'Node.ID must be a UUID in lower case');
  check(node.Name !== '', '/Node/Name', 'Node.Name is required');
  check(uuid.test(secret), '/SecretID', 'SecretID must be a UUID in lower case');
  const attributes = Object.keys(node.Attributes).length;
  check(
    attributes <= limits.node.attributesMax,
    '/Node/Attributes',
    `Node.Attributes has ${attributes} entries; at most ${limits.node.attributesMax} are kept`,
  );
  const { attributeLengthMax } = limits.node;
  for (const field of ['Attributes', 'Meta'] as const) {
    for (const [name, value] of Object.entries(node[field])) {
      const isShort = name.length <= attributeLengthMax && value.length <= attributeLengthMax;
      const sentence = `Node.${field} has names and values of at most ${attributeLengthMax}`;
      check(isShort, pointerOf(below(null, 'Node', field, name)), `${sentence} characters`);
    }
  }
  const { NodeResources: total, ReservedResources: reserved } = node;
  const kinds = [
    ['Cpu.CpuShares', total.Cpu.CpuShares, reserved.Cpu.CpuShares],
    ['Memory.MemoryMB', total.Memory.MemoryMB, reserved.Memory.MemoryMB],
    ['Disk.DiskMB', total.Disk.DiskMB, reserved.Disk.DiskMB],
  ] as const;
  for (const [field, has, keeps] of kinds) {
    const pointer = `/Node/ReservedResources/${field.replace('.', '/')}`;
    const sentence = `Node.ReservedResources.${field} is ${keeps}, more than the ${has} it has`;
    check(keeps <= has, pointer, sentence);
  }
  check(
    total.MinDynamicPort <= total.MaxDynamicPort,
    '/Node/NodeResources/MinDynamicPort',
    'Node.NodeResources.MinDynamicPort is greater than MaxDynamicPort',
  );
  return faults;
}

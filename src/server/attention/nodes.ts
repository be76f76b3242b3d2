import { instantToMs } from '../../base/instant.ts';
import { plural } from '../../base/words.ts';
import { limits } from '../../model/limits.ts';
import type { Node } from '../../model/node/node.ts';
import { raise, type Sum } from '../../scheduler/fitting/occupancy.ts';
import { capacityOf, needOf } from '../../scheduler/fitting/resources.ts';
import { allocations, nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { type Finding, ofNode } from './finding.ts';

export function findingsOfNode(snapshot: Snapshot, id: string): Finding[] {
  const node = snapshot.table(nodes).get(id);
  if (node === undefined) return [];
  const used: Sum = { cpu: 0, memory: 0, disk: 0, cores: 0 };
  let count = 0;
  for (const row of snapshot
    .table(allocations)
    .by('occupant')
    .scan({ prefix: [id] })) {
    raise(used, needOf(row.AllocatedResources));
    count++;
  }
  const sinceMs = instantToMs(node.StatusUpdatedAt);
  const held = `${plural(count, 'allocation')} ${count === 1 ? 'is' : 'are'} on it`;
  if (node.Status === 'down') {
    const Severity = count > 0 ? 'critical' : 'notice';
    const reason = node.StatusDescription || 'it was not heard for too long';
    const Reason = `The node is down: ${reason}; ${held}`;
    return [ofNode(node, { Kind: 'node-down', Severity, Reason, sinceMs })];
  }
  if (node.Status === 'disconnected') {
    const Reason = `The servers have no contact with the node; ${held}`;
    return [ofNode(node, { Kind: 'node-disconnected', Severity: 'warning', Reason, sinceMs })];
  }
  if (node.Drain) {
    const startedMs = Date.parse(node.DrainStrategy?.StartedAt ?? '') || 0;
    const Reason = `The node is drained; ${held}`;
    const told = { Kind: 'node-draining', Severity: 'notice', Reason, sinceMs: startedMs } as const;
    return [ofNode(node, told)];
  }
  if (node.SchedulingEligibility === 'ineligible') {
    const Reason = `The node takes no new work; ${held}`;
    return [ofNode(node, { Kind: 'node-ineligible', Severity: 'notice', Reason, sinceMs: 0 })];
  }
  return fullness(node, used);
}

function fullness(node: Node, used: Sum): Finding[] {
  const capacity = capacityOf(node);
  const full = (['cpu', 'memory'] as const).flatMap((name) => {
    const share = capacity[name] > 0 ? used[name] / capacity[name] : 0;
    if (share < limits.attention.fullShare) return [];
    return `${Math.round(share * 100)} % of its ${words[name]}`;
  });
  if (full.length === 0) return [];
  const Reason = `Allocations hold ${full.join(' and ')}`;
  return [ofNode(node, { Kind: 'node-full', Severity: 'notice', Reason, sinceMs: 0 })];
}

const words = { cpu: 'processor time', memory: 'memory' } as const;

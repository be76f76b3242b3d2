/** For every node, why a group would or would not be placed there: with the rules of placement. */
import type { Job } from '../model/job/job.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { candidatesFor } from './candidates.ts';
import { firstFailed } from './feasibility.ts';
import { Field } from './field.ts';
import { occupancyIn } from './occupancy.ts';
import { JobPresence } from './presence.ts';
import { NodeRoom } from './room.ts';
import type { ScoreParts } from './score.ts';
import type { ClusterView } from './view.ts';

export type NodeVerdict =
  /** The first rule that the node fails. */
  | { readonly verdict: 'filtered'; readonly rule: string; readonly text: string }
  /** The rules hold, but this is short. */
  | { readonly verdict: 'exhausted'; readonly dimension: string }
  | { readonly verdict: 'open'; readonly score: number; readonly parts: ScoreParts };

export type NodeExplanation = NodeVerdict & { readonly nodeId: string; readonly nodeName: string };

/** One more allocation of the group on the cluster as it is; in the order of the node ids. */
export function explain(view: ClusterView, job: Job, group: TaskGroup): readonly NodeExplanation[] {
  const candidates = candidatesFor(job, group, view.nodes());
  const field = new Field({
    job,
    group,
    nodes: candidates.feasible,
    presence: new JobPresence((id) => view.node(id), view.allocationsOfJob(job.Namespace, job.ID)),
    configuration: view.configuration,
    roomOf: (node) => new NodeRoom(node, occupancyIn(view, node.ID)),
  });
  return [...view.nodes()].map((node) => {
    const slot = field.slotOf(node.ID);
    const failed = slot < 0 ? firstFailed(candidates.rules, node) : undefined;
    const verdict: NodeVerdict =
      failed !== undefined
        ? { verdict: 'filtered', rule: failed.name, text: failed.text }
        : verdictOnSlot(field, slot);
    return { nodeId: node.ID, nodeName: node.Name, ...verdict };
  });
}

function verdictOnSlot(field: Field, slot: number): NodeVerdict {
  const distinct = field.distinctAt(slot);
  if (distinct !== undefined) {
    const text = distinct.text(field.nodes[slot]!);
    return { verdict: 'filtered', rule: distinct.rule.name, text };
  }
  const fit = field.fitAt(slot);
  if (!fit.fits) return { verdict: 'exhausted', dimension: fit.dimension };
  return { verdict: 'open', score: field.scoreAt(slot), parts: field.partsAt(slot) };
}

import { type Occupancy, occupancyOf } from '../../scheduler/occupancy.ts';
import type { ClusterView, SchedulerConfiguration } from '../../scheduler/view.ts';
import {
  allocations,
  inNamespace,
  jobs,
  jobVersions,
  nodes,
  numberPart,
} from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/**
 * Who occupies each node, kept from one evaluation to the next as long as nothing of it changed:
 * an evaluation then costs what changed, and not all that is there.
 */
export class Occupancies {
  readonly #kept = new Map<string, { readonly index: number; readonly occupancy: Occupancy }>();

  of(snapshot: Snapshot, nodeId: string): Occupancy {
    const occupants = snapshot.table(allocations).by('occupant');
    const range = { prefix: [nodeId] };
    const index = occupants.lastIndex(range);
    const kept = this.#kept.get(nodeId);
    if (kept?.index === index) return kept.occupancy;
    const occupancy = occupancyOf(occupants.scan(range));
    this.#kept.set(nodeId, { index, occupancy });
    return occupancy;
  }
}

/** A snapshot as the scheduler reads it. */
export function clusterView(
  snapshot: Snapshot,
  configuration: SchedulerConfiguration,
  occupancies = new Occupancies(),
): ClusterView {
  return {
    occupancyOf: (nodeId) => occupancies.of(snapshot, nodeId),
    index: snapshot.index,
    configuration,
    job: (namespace, id) => snapshot.table(jobs).get(...inNamespace(namespace, id)),
    jobVersion: (namespace, id, version) =>
      snapshot.table(jobVersions).get(...inNamespace(namespace, id, numberPart(version))),
    allocationsOfJob: (namespace, jobId) =>
      snapshot
        .table(allocations)
        .by('job')
        .scan({ prefix: inNamespace(namespace, jobId) }),
    node: (id) => snapshot.table(nodes).get(id),
    nodes: () => snapshot.table(nodes).scan(),
    allocationsOnNode: (nodeId) =>
      snapshot
        .table(allocations)
        .by('occupant')
        .scan({ prefix: [nodeId] }),
  };
}

import { isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import type { ClusterView, SchedulerConfiguration } from '../../scheduler/view.ts';
import {
  allocations,
  deployments,
  evaluations,
  inNamespace,
  jobs,
  jobVersions,
  nodes,
  numberPart,
} from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/** A snapshot as the scheduler reads it. */
export function clusterView(
  snapshot: Pick<Snapshot, 'index' | 'table'>,
  configuration: SchedulerConfiguration,
): ClusterView {
  return {
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
    deploymentsOfJob: (namespace, jobId) =>
      snapshot
        .table(deployments)
        .by('job')
        .scan({ prefix: inNamespace(namespace, jobId) }),
    isOver: (namespace, evaluationId) => {
      const evaluation = snapshot.table(evaluations).get(...inNamespace(namespace, evaluationId));
      return evaluation === undefined || isTerminalEvaluation(evaluation);
    },
    node: (id) => snapshot.table(nodes).get(id),
    nodes: () => snapshot.table(nodes).scan(),
    allocationsOnNode: (nodeId) =>
      snapshot
        .table(allocations)
        .by('occupant')
        .scan({ prefix: [nodeId] }),
  };
}

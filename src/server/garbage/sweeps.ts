/** The garbage of each table, and how a row of it is deleted. */
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isServerTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import {
  type IntroductionToken,
  isOver,
} from '../../model/introduction-token/introduction-token.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import {
  allocations,
  deployments,
  evaluations,
  inNamespace,
  introductionTokens,
  jobSummaries,
  jobs,
  keptPlans,
  nodes,
  oidcSessions,
  usedUpLimits,
} from '../../state/tables.ts';
import type { Snapshot, Stamps, TableDefinition, Transaction } from '../../state/types.ts';
import type { Expiring } from '../expiring-rows.ts';
import { removeServicesOf, removeServicesOfNode } from '../services/remove.ts';
import {
  type GarbageAges,
  isAllocationGarbage,
  isDeploymentGarbage,
  isEvaluationGarbage,
  isNodeGarbage,
} from './rules.ts';

type Reader = Snapshot | Transaction;

export interface Sweep<R> {
  readonly rows: (snapshot: Snapshot) => Iterable<R>;
  readonly isGarbage: (reader: Reader, row: R, ages: GarbageAges, nowMs: number) => boolean;
  /** Deletes the row if it is still there and still garbage; `true`: deleted. */
  readonly remove: (transaction: Transaction, row: R, ages: GarbageAges, nowMs: number) => boolean;
}

/** The job, unless its id was registered anew after a purge. */
function jobOf(reader: Reader, namespace: string, id: string, createIndex: number) {
  const job: Job | undefined = reader.table(jobs).get(...inNamespace(namespace, id));
  return job !== undefined && job.CreateIndex <= createIndex ? job : undefined;
}

/**
 * Whether the scheduler may still place allocations of the group. A blocked evaluation waits for
 * any group of the job; the counters tell for which.
 */
function isAwaitingMore(reader: Reader, { Namespace, JobID, TaskGroup }: Allocation): boolean {
  const key = inNamespace(Namespace, JobID);
  const summary = reader.table(jobSummaries).get(...key)?.Summary ?? {};
  if (Object.hasOwn(summary, TaskGroup) && summary[TaskGroup]!.Queued > 0) return true;
  for (const { Status } of reader.table(evaluations).by('open').scan({ prefix: key })) {
    if (Status !== 'blocked') return true;
  }
  return false;
}

export const allocationSweep: Sweep<Allocation> = {
  rows: (snapshot) => snapshot.table(allocations).scan(),
  isGarbage: (reader, allocation, ages, nowMs) => {
    const { Namespace, JobID, NodeID, EvalID, JobCreateIndex } = allocation;
    const surroundings = {
      job: jobOf(reader, Namespace, JobID, JobCreateIndex),
      node: reader.table(nodes).get(NodeID),
      evaluation: reader.table(evaluations).get(...inNamespace(Namespace, EvalID)),
      isAwaitingMore: () => isAwaitingMore(reader, allocation),
    };
    return isAllocationGarbage(allocation, surroundings, ages, nowMs);
  },
  remove: (transaction, { Namespace, ID }, ages, nowMs) => {
    const table = transaction.table(allocations);
    const row = table.get(...inNamespace(Namespace, ID));
    if (row === undefined) return false;
    if (!allocationSweep.isGarbage(transaction, row, ages, nowMs)) return false;
    removeServicesOf(transaction, row);
    return table.delete(...inNamespace(Namespace, ID));
  },
};

export const evaluationSweep: Sweep<Evaluation> = {
  rows: (snapshot) => snapshot.table(evaluations).scan(),
  isGarbage: (reader, evaluation, ages, nowMs) => {
    const { Namespace, JobID, ID, CreateIndex } = evaluation;
    const placed = reader
      .table(allocations)
      .by('evaluation')
      .scan({ prefix: [ID] });
    const surroundings = {
      job: jobOf(reader, Namespace, JobID, CreateIndex),
      hasPlaced: !placed.next().done,
    };
    return isEvaluationGarbage(evaluation, surroundings, ages, nowMs);
  },
  remove: (transaction, { Namespace, ID }, ages, nowMs) => {
    const table = transaction.table(evaluations);
    const row = table.get(...inNamespace(Namespace, ID));
    if (row === undefined) return false;
    if (!evaluationSweep.isGarbage(transaction, row, ages, nowMs)) return false;
    return table.delete(...inNamespace(Namespace, ID));
  },
};

export const deploymentSweep: Sweep<Deployment> = {
  rows: (snapshot) => snapshot.table(deployments).scan(),
  isGarbage: (reader, deployment, ages, nowMs) => {
    const running = reader
      .table(allocations)
      .by('deployed')
      .scan({ prefix: [deployment.ID] });
    const { Namespace, JobID } = deployment;
    const job = reader.table(jobs).get(...inNamespace(Namespace, JobID));
    return isDeploymentGarbage(deployment, { runs: !running.next().done, job }, ages, nowMs);
  },
  remove: (transaction, { Namespace, ID }, ages, nowMs) => {
    const table = transaction.table(deployments);
    const row = table.get(...inNamespace(Namespace, ID));
    if (row === undefined) return false;
    if (!deploymentSweep.isGarbage(transaction, row, ages, nowMs)) return false;
    return table.delete(...inNamespace(Namespace, ID));
  },
};

/** Tokens that have expired or are used up: nobody can use them any more. */
export const introductionSweep: Sweep<IntroductionToken> = {
  rows: (snapshot) => snapshot.table(introductionTokens).scan(),
  isGarbage: (_reader, token, _ages, nowMs) => isOver(token, nowMs),
  remove: (transaction, { ID }) => transaction.table(introductionTokens).delete(ID),
};

/** Rows that end at a time of their own. The key of a row may have been written anew meanwhile. */
const expiredRows = <R extends Expiring>(definition: TableDefinition<R, 'expiry'>): Sweep<R> => ({
  rows: (snapshot) => snapshot.table(definition).by('expiry').scan(),
  isGarbage: (_reader, { ExpireMs }, _ages, nowMs) => ExpireMs <= nowMs,
  remove: (transaction, row, _ages, nowMs) => {
    const table = transaction.table(definition);
    const key = definition.key(row);
    const isOver = (table.get(...key)?.ExpireMs ?? Number.POSITIVE_INFINITY) <= nowMs;
    return isOver && table.delete(...key);
  },
});

/** Each removes the rows of one table whose time is over. */
export const expirySweeps = [
  expiredRows(keptPlans),
  expiredRows(oidcSessions),
  expiredRows(usedUpLimits),
] as unknown as readonly Sweep<Stamps>[];

export const nodeSweep: Sweep<Node> = {
  rows: (snapshot) => snapshot.table(nodes).scan(),
  isGarbage: (reader, node, ages, nowMs) => {
    const holds = () => {
      for (const one of reader
        .table(allocations)
        .by('occupant')
        .scan({ prefix: [node.ID] })) {
        if (!isServerTerminal(one)) return true;
      }
      return false;
    };
    return isNodeGarbage(node, holds, ages, nowMs);
  },
  remove: (transaction, { ID }, ages, nowMs) => {
    const table = transaction.table(nodes);
    const row = table.get(ID);
    if (row === undefined || !nodeSweep.isGarbage(transaction, row, ages, nowMs)) return false;
    removeServicesOfNode(transaction, ID);
    return table.delete(ID);
  },
};

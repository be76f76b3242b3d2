import { type AclToken, isManagement } from '../model/acl-token/acl-token.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { occupiesNode } from '../model/allocation/allocation-rules.ts';
import type { Deployment } from '../model/deployment/deployment.ts';
import { type Evaluation, isTerminalEvaluation } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import type { JobSubmission } from '../model/job-submission/job-submission.ts';
import type { JobSummary } from '../model/job-summary/job-summary.ts';
import { defaultPartition, type Namespace } from '../model/namespace/namespace.ts';
import type { Node } from '../model/node/node.ts';
import type { Key, Stamps, TableDefinition } from './types.ts';

/**
 * Every table there is. The key of a namespaced noun starts with its partition and namespace
 * (DESIGN §4); the scheduler's nouns live in the default partition.
 */
export const inNamespace = (namespace: string, ...rest: Key): Key => [
  defaultPartition,
  namespace,
  ...rest,
];

/** Numbers as key parts keep their order. */
export const numberPart = (value: number): string => value.toString(16).padStart(14, '0');

/** Keeps the literal names of a definition's indexes. */
const table = <R extends Stamps, I extends string = never>(
  definition: TableDefinition<R, I>,
): TableDefinition<R, I> => definition;

export const jobs = table<Job>({
  name: 'jobs',
  version: 1,
  scopeParts: 2,
  key: (job) => inNamespace(job.Namespace, job.ID),
  indexes: {},
});

/** The versions kept of each job, the current one included, each created when the job was. */
export const jobVersions = table<Job>({
  name: 'job-versions',
  version: 1,
  keepsCreateIndex: true,
  key: (job) => inNamespace(job.Namespace, job.ID, numberPart(job.Version)),
  indexes: {},
});

export const jobSummaries = table<JobSummary>({
  name: 'job-summaries',
  version: 1,
  scopeParts: 2,
  key: (summary) => inNamespace(summary.Namespace, summary.JobID),
  indexes: {},
});

export const jobSubmissions = table<JobSubmission>({
  name: 'job-submissions',
  version: 1,
  key: (submission) =>
    inNamespace(submission.Namespace, submission.JobID, numberPart(submission.Version)),
  indexes: {},
});

export const evaluations = table<Evaluation, 'id' | 'job' | 'open'>({
  name: 'evaluations',
  version: 1,
  scopeParts: 2,
  key: (evaluation) => inNamespace(evaluation.Namespace, evaluation.ID),
  indexes: {
    id: { key: (evaluation) => [evaluation.ID] },
    job: { key: (evaluation) => inNamespace(evaluation.Namespace, evaluation.JobID) },
    /** Those that are not over, by job: what a new leader takes up again. */
    open: {
      key: (evaluation) =>
        isTerminalEvaluation(evaluation)
          ? undefined
          : inNamespace(evaluation.Namespace, evaluation.JobID),
    },
  },
});

export const allocations = table<
  Allocation,
  'id' | 'job' | 'node' | 'occupant' | 'evaluation' | 'assignment'
>({
  name: 'allocations',
  version: 1,
  scopeParts: 2,
  key: (allocation) => inNamespace(allocation.Namespace, allocation.ID),
  indexes: {
    id: { key: (allocation) => [allocation.ID] },
    job: { key: (allocation) => inNamespace(allocation.Namespace, allocation.JobID) },
    node: { key: (allocation) => [allocation.NodeID] },
    /** By node, without those that ended, so that a node's past costs the scheduler nothing. */
    occupant: {
      scopeParts: 1,
      key: (allocation) => (occupiesNode(allocation) ? [allocation.NodeID] : undefined),
    },
    evaluation: { key: (allocation) => [allocation.EvalID] },
    /** As the node sees it: what the node itself reports does not call for its attention. */
    assignment: {
      key: (allocation) => [allocation.NodeID],
      touch: (allocation) => allocation.AllocModifyIndex,
    },
  },
});

export const deployments = table<Deployment, 'id' | 'job'>({
  name: 'deployments',
  version: 1,
  scopeParts: 2,
  key: (deployment) => inNamespace(deployment.Namespace, deployment.ID),
  indexes: {
    id: { key: (deployment) => [deployment.ID] },
    job: { key: (deployment) => inNamespace(deployment.Namespace, deployment.JobID) },
  },
});

export const nodes = table<Node, 'secret'>({
  name: 'nodes',
  version: 1,
  key: (node) => [node.ID],
  indexes: { secret: { key: (node) => [node.SecretHash] } },
});

export const namespaces = table<Namespace>({
  name: 'namespaces',
  version: 1,
  key: (namespace) => [defaultPartition, namespace.Name],
  indexes: {},
});

export const aclTokens = table<AclToken, 'secret' | 'management'>({
  name: 'acl-tokens',
  version: 1,
  key: (token) => [defaultPartition, token.AccessorID],
  indexes: {
    /** Secrets are found by their hash, so that no lookup compares them bit by bit. */
    secret: { key: (token) => [token.SecretHash] },
    management: { key: (token) => (isManagement(token) ? ['management'] : undefined) },
  },
});

/** For opening the state. */
export const allTables: readonly TableDefinition[] = [
  jobs,
  jobVersions,
  jobSummaries,
  jobSubmissions,
  evaluations,
  allocations,
  deployments,
  nodes,
  namespaces,
  aclTokens,
] as unknown as readonly TableDefinition[];

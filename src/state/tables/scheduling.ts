import type { Allocation } from '../../model/allocation/allocation.ts';
import { isTerminal, occupiesNode } from '../../model/allocation/allocation-rules.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { type Evaluation, isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import type { IntroductionToken } from '../../model/introduction-token/introduction-token.ts';
import type { Node } from '../../model/node/node.ts';
import type { NodePool } from '../../model/node-pool/node-pool.ts';
import type { StoredSchedulerConfiguration } from '../../model/scheduler-configuration/scheduler-configuration.ts';
import type { ServiceRegistration } from '../../model/service-registration/service-registration.ts';
import { inNamespace, numberPart, table } from './definition.ts';

export const evaluations = table<Evaluation, 'id' | 'job' | 'open' | 'created'>({
  name: 'evaluations',
  version: 2,
  alike: true,
  // Version 2 writes differences. The row is the same.
  upcast: (row) => row as Evaluation,
  downcast: (row) => row,
  scopeParts: 2,
  key: (evaluation) => inNamespace(evaluation.Namespace, evaluation.ID),
  indexes: {
    id: { key: (evaluation) => [evaluation.ID] },
    job: { key: (evaluation) => inNamespace(evaluation.Namespace, evaluation.JobID) },
    /** Evaluations that have not ended, by job. A new leader goes on with them. */
    open: {
      key: (evaluation) =>
        isTerminalEvaluation(evaluation)
          ? undefined
          : inNamespace(evaluation.Namespace, evaluation.JobID),
    },
    /** By creation, the oldest first: the order of lists. */
    created: {
      scopeParts: 2,
      key: ({ Namespace, CreateIndex }) => inNamespace(Namespace, numberPart(CreateIndex)),
    },
  },
});

export const allocations = table<
  Allocation,
  'id' | 'job' | 'node' | 'assignment' | 'occupant' | 'evaluation' | 'deployed' | 'created'
>({
  name: 'allocations',
  version: 3,
  shared: ['Metrics', 'AllocatedResources'],
  alike: true,
  // Version 2 wrote the shared fields in another way, version 3 writes differences. The row is the same.
  upcast: (row) => row as Allocation,
  downcast: (row) => row,
  scopeParts: 2,
  key: (allocation) => inNamespace(allocation.Namespace, allocation.ID),
  indexes: {
    id: { key: (allocation) => [allocation.ID] },
    job: { key: (allocation) => inNamespace(allocation.Namespace, allocation.JobID) },
    node: { key: (allocation) => [allocation.NodeID] },
    /** By node, as the node sees them: its own reports are no changes. */
    assignment: {
      sharesKeys: true,
      scopeParts: 1,
      key: (allocation) => [allocation.NodeID],
      touch: (allocation) => allocation.AllocModifyIndex,
    },
    /** By node, without ended allocations, so that a node's past costs the scheduler nothing. */
    occupant: {
      scopeParts: 1,
      key: (allocation) => (occupiesNode(allocation) ? [allocation.NodeID] : undefined),
    },
    evaluation: { key: (allocation) => [allocation.EvalID] },
    /** By deployment, while they are wanted. Garbage collection keeps such a deployment. */
    deployed: {
      key: (allocation) =>
        allocation.DeploymentID === '' || isTerminal(allocation)
          ? undefined
          : [allocation.DeploymentID],
    },
    /** By creation, the oldest first: the order of lists. */
    created: {
      alike: true,
      scopeParts: 2,
      key: ({ Namespace, CreateIndex }) => inNamespace(Namespace, numberPart(CreateIndex)),
    },
  },
});

/** Instances of services, by name. They are deleted with the allocation that runs them. */
export const serviceRegistrations = table<ServiceRegistration, 'job' | 'allocation' | 'node'>({
  name: 'service-registrations',
  version: 1,
  scopeParts: 2,
  key: ({ Namespace, ServiceName, ID }) => inNamespace(Namespace, ServiceName, ID),
  indexes: {
    job: { key: ({ Namespace, JobID }) => inNamespace(Namespace, JobID) },
    allocation: { key: ({ AllocID }) => [AllocID] },
    node: { key: ({ NodeID }) => [NodeID] },
  },
});

export const deployments = table<Deployment, 'id' | 'job' | 'created'>({
  name: 'deployments',
  version: 2,
  alike: true,
  // Version 2 writes differences. The row is the same.
  upcast: (row) => row as Deployment,
  downcast: (row) => row,
  scopeParts: 2,
  key: (deployment) => inNamespace(deployment.Namespace, deployment.ID),
  indexes: {
    id: { key: (deployment) => [deployment.ID] },
    job: { key: (deployment) => inNamespace(deployment.Namespace, deployment.JobID) },
    /** By creation, the oldest first: the order of lists. */
    created: {
      scopeParts: 2,
      key: ({ Namespace, CreateIndex }) => inNamespace(Namespace, numberPart(CreateIndex)),
    },
  },
});

export const nodes = table<Node, 'secret' | 'pool' | 'name'>({
  name: 'nodes',
  version: 2,
  key: (node) => [node.ID],
  indexes: {
    secret: { key: (node) => [node.SecretHash] },
    pool: { key: (node) => [node.NodePool] },
    name: { key: (node) => [node.Name] },
  },
  upcast: (row) => {
    const node = row as Node;
    const NodeResources = { ...node.NodeResources, Devices: [] };
    return { ...node, NodeResources, DrainStrategy: null, LastDrain: null };
  },
});

/** Tokens that let nodes join, with the hashes of their secrets only. */
export const introductionTokens = table<IntroductionToken, 'secret'>({
  name: 'introduction-tokens',
  version: 1,
  key: (token) => [token.ID],
  indexes: { secret: { key: (token) => [token.SecretHash] } },
});

export const nodePools = table<NodePool>({
  name: 'node-pools',
  version: 1,
  key: (pool) => [pool.Name],
  indexes: {},
});

/** A single row; absent until somebody sets it. */
export const schedulerConfiguration = table<StoredSchedulerConfiguration>({
  name: 'scheduler-configuration',
  version: 1,
  key: () => ['configuration'],
  indexes: {},
});

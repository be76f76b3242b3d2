import { AllocationSchema } from '../model/allocation/allocation.ts';
import { type WholeAllocation, WholeAllocationSchema } from '../model/allocation/present.ts';
import { DrainSpecSchema } from '../model/node/drain.ts';
import { eligibilities } from '../model/node/node.ts';
import { type PresentedNode, PresentedNodeSchema } from '../model/node/present.ts';
import { type NodeTopology, NodeTopologySchema } from '../model/node/topology.ts';
import {
  anyOf,
  management,
  namedAccess,
  type Permission,
  resourceAccess,
} from '../model/permission/permission.ts';
import { Choice, Flag, Nullable, Text, TextMap, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { type Asked, decided, either, mayAnything } from './needs.ts';
import { flag, idPrefix } from './query.ts';
import { sortsOf } from './sorts.ts';

/** For lists of nodes, also of a pool. */
export const nodeListQuery = {
  ...idPrefix,
  resources: flag('Include the resources.'),
  os: flag('Include the operating system.'),
} as const;

/** For lists of nodes, which show the nodes that the caller may read. */
export const readSomeNode = {
  kind: 'named',
  resource: 'node',
  access: 'read',
  name: '',
  extent: 'any',
} as const;

/** For each node of a list. */
export const readThatNode = {
  kind: 'named',
  resource: 'node',
  access: 'read',
  name: 'from-row:Name',
} as const;

export const itself = either({ kind: 'own-node', nodeId: 'from-path:node_id' }, mayAnything);

type Found = { readonly Name: string } | undefined;

/** A refusal does not name the node, so that it reveals no name for an id. */
export function onThatNode(
  access: 'read' | 'write',
  { allows }: Pick<Asked, 'allows'>,
  node: Found,
): Permission {
  const named = node && namedAccess('node', access, node.Name);
  return named !== undefined && allows(named) ? named : resourceAccess('node', access);
}

export const onNode = (access: 'read' | 'write') =>
  decided(`\`node:${access}\` on the node`, (asked: Asked, node: Found) =>
    onThatNode(access, asked, node),
  );

const readsNodeOrIsIt = decided(
  '`node:read` on the node, or its own secret',
  (asked: Asked, node: Found) =>
    anyOf(
      onThatNode('read', asked, node),
      anyOf({ kind: 'own-node', nodeId: asked.parameters.node_id! }, management),
    ),
);

const EvaluatedSchema = Type.Object({
  EvalIDs: Type.Array(Type.String()),
  EvalCreateIndex: Whole(),
  NodeModifyIndex: Whole(),
  Index: Whole(),
});

export const DrainRequestSchema = Type.Object({
  NodeID: Text(),
  DrainSpec: Nullable(DrainSpecSchema),
  MarkEligible: Flag(),
  Meta: TextMap(),
});

const EligibilityRequestSchema = Type.Object({
  NodeID: Text(),
  Eligibility: Choice(eligibilities),
});

const change = {
  kind: 'write',
  methods: ['PUT', 'POST'],
  answer: EvaluatedSchema,
  permission: onNode('write'),
} as const;

/** A node in a list. Resources and attributes of the operating system are optional. */
export type NodeListItem = Pick<
  PresentedNode,
  | 'ID'
  | 'Name'
  | 'Datacenter'
  | 'NodeClass'
  | 'NodePool'
  | 'Status'
  | 'StatusDescription'
  | 'SchedulingEligibility'
  | 'Drain'
  | 'Drivers'
  | 'CreateIndex'
  | 'ModifyIndex'
> &
  Partial<PresentedNode>;

export const nodeEndpoints = endpoints(
  { group: 'nodes', noun: 'node', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/nodes',
      summary: 'List nodes',
      blocking: true,
      query: nodeListQuery,
      answer: typed<NodeListItem>(PresentedNodeSchema),
      filter: PresentedNodeSchema,
      sorts: sortsOf.nodes,
      permission: readSomeNode,
      visible: readThatNode,
    },
    topology: {
      kind: 'list',
      path: '/v1/nodes/topology',
      summary: 'List nodes with what they offer, and what allocations hold of it',
      blocking: true,
      query: {
        meta: {
          kind: 'strings',
          description: 'A key of the meta of nodes to show; may be repeated. By default `rack`.',
        },
      },
      answer: typed<NodeTopology>(NodeTopologySchema),
      filter: NodeTopologySchema,
      sorts: sortsOf.topology,
      permission: readSomeNode,
      visible: readThatNode,
    },
    read: {
      kind: 'read',
      path: '/v1/node/:node_id',
      summary: 'Read a node',
      blocking: true,
      answer: typed<PresentedNode>(PresentedNodeSchema),
      permission: readsNodeOrIsIt,
    },
    allocations: {
      kind: 'list',
      path: '/v1/node/:node_id/allocations',
      summary: 'List the allocations of a node',
      blocking: true,
      query: {
        job: { kind: 'boolean', default: true, description: 'Include Job.' },
      },
      answer: typed<WholeAllocation>(WholeAllocationSchema),
      filter: AllocationSchema,
      sorts: sortsOf.allocations,
      permission: onNode('read'),
      visible: { kind: 'namespace', capability: 'read-job', namespace: 'from-row' },
    },
    drain: {
      ...change,
      path: '/v1/node/:node_id/drain',
      summary: 'Start, change or cancel the drain of a node',
      body: {
        example: { DrainSpec: { Deadline: 3_600_000_000_000 } },
        schema: DrainRequestSchema,
        unknown: 'refuse',
      },
    },
    setEligibility: {
      ...change,
      path: '/v1/node/:node_id/eligibility',
      summary: 'Set the eligibility of a node for placements',
      body: {
        example: { Eligibility: 'ineligible' },
        schema: EligibilityRequestSchema,
        unknown: 'refuse',
      },
    },
    evaluate: {
      ...change,
      path: '/v1/node/:node_id/evaluate',
      summary: 'Evaluate all jobs of a node',
    },
    purge: {
      ...change,
      path: '/v1/node/:node_id/purge',
      summary: 'Delete a node; its allocations are placed elsewhere',
    },
  },
);

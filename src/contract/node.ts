import { AllocationSchema } from '../model/allocation/allocation.ts';
import type { WholeAllocation } from '../model/allocation/present.ts';
import { WholeAllocationSchema } from '../model/allocation/present.ts';
import { DrainSpecSchema } from '../model/node/drain.ts';
import type { Node } from '../model/node/node.ts';
import { eligibilities } from '../model/node/node.ts';
import { type PresentedNode, PresentedNodeSchema } from '../model/node/present.ts';
import {
  anyOf,
  management,
  namedAccess,
  type Permission,
  resourceAccess,
} from '../model/permission/permission.ts';
import { Choice, Flag, Nullable, Text, TextMap, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import type { Asked } from './needs.ts';
import { decided, either, mayAnything } from './needs.ts';

/** How nodes are listed; also those of a pool. */
export const nodeListQuery = {
  prefix: { kind: 'string', default: '', description: 'The beginning of the id.' },
  resources: { kind: 'boolean', default: false, description: 'Include the resources.' },
  os: { kind: 'boolean', default: false, description: 'Include the operating system.' },
} as const;

/** Some of them, at least: of a list everybody sees the nodes that it may read. */
export const readSomeNode = {
  kind: 'named',
  resource: 'node',
  access: 'read',
  name: '',
  extent: 'any',
} as const;

/** The node itself. */
export const itself = either({ kind: 'own-node', nodeId: 'from-path:node_id' }, mayAnything);

type Found = Pick<Node, 'Name'> | undefined;

/** A refusal speaks of nodes as such: it does not tell whose name the id is. */
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

/** A node in a list. Resources may be left out, and attributes that do not tell of the system. */
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
      methods: ['GET'],
      path: '/v1/nodes',
      summary: 'List nodes',
      blocking: true,
      query: nodeListQuery,
      answer: typed<NodeListItem>(PresentedNodeSchema),
      filter: PresentedNodeSchema,
      permission: readSomeNode,
    },
    read: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/node/:node_id',
      summary: 'Read a node',
      blocking: true,
      answer: typed<PresentedNode>(PresentedNodeSchema),
      permission: readsNodeOrIsIt,
    },
    allocations: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/node/:node_id/allocations',
      summary: 'List the allocations of a node',
      blocking: true,
      answer: typed<WholeAllocation>(WholeAllocationSchema),
      filter: AllocationSchema,
      permission: onNode('read'),
    },
    drain: {
      ...change,
      path: '/v1/node/:node_id/drain',
      summary: 'Empty a node, change how, or cancel that',
      body: {
        example: { DrainSpec: { Deadline: 3_600_000_000_000 } },
        schema: DrainRequestSchema,
        unknown: 'refuse',
      },
    },
    setEligibility: {
      ...change,
      path: '/v1/node/:node_id/eligibility',
      summary: 'Say whether the scheduler may place on a node',
      body: { schema: EligibilityRequestSchema, unknown: 'refuse' },
    },
    evaluate: {
      ...change,
      path: '/v1/node/:node_id/evaluate',
      summary: 'Have the scheduler look at all that a node concerns',
    },
    purge: {
      ...change,
      path: '/v1/node/:node_id/purge',
      summary: 'Forget a node; what ran there goes elsewhere',
    },
  },
);

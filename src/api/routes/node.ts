import { AllocationSchema } from '../../model/allocation/allocation.ts';
import { WholeAllocationSchema, wholeAllocation } from '../../model/allocation/present.ts';
import { complete } from '../../model/complete.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { DrainSpecSchema } from '../../model/node/drain.ts';
import { eligibilities, type Node } from '../../model/node/node.ts';
import { PresentedNodeSchema, presentDrivers, presentNode } from '../../model/node/present.ts';
import {
  anyOf,
  management,
  namedAccess,
  namespaceCapability,
  type Permission,
  resourceAccess,
} from '../../model/permission/permission.ts';
import { Choice, Flag, Nullable, Text, TextMap, Type, Whole } from '../../model/schema.ts';
import { drainNode } from '../../server/nodes/drain.ts';
import { setEligibility } from '../../server/nodes/eligibility.ts';
import { evaluateNodeNow, type NodeEvaluated } from '../../server/nodes/evaluate.ts';
import { purgeNode } from '../../server/nodes/purge.ts';
import type { Server } from '../../server/server.ts';
import { allocations, inNamespace, nodes } from '../../state/tables.ts';
import { type Input, listRoute, type Route, readRoute, type Scope, writeRoute } from '../route.ts';
import { jobOf } from './allocation.ts';

/** @throws RosterError `node-not-found` */
export function requireNode({ parameters, snapshot }: Scope): Node {
  const node = snapshot.table(nodes).get(parameters.node_id!);
  if (node === undefined) throw refusal('node-not-found', { id: parameters.node_id! });
  return node;
}

/** Some of them, at least: of a list everybody sees the nodes that it may read. */
const readSomeNode = () => namedAccess('node', 'read', '', { extent: 'any' });
export const readThatNode = ({ Name }: Pick<Node, 'Name'>) => namedAccess('node', 'read', Name);

/** A refusal speaks of nodes as such: it does not tell whose name the id is. */
const onNode =
  (access: 'read' | 'write') =>
  ({ parameters, unwatched, allows }: Scope): Permission => {
    const node = unwatched.table(nodes).get(parameters.node_id!);
    const named = node && namedAccess('node', access, node.Name);
    return named !== undefined && allows(named) ? named : resourceAccess('node', access);
  };
const readNode = onNode('read');
const writeNode = onNode('write');

export const itself = ({ parameters }: Scope) =>
  anyOf({ kind: 'own-node', nodeId: parameters.node_id! }, management);

/** How nodes are listed; also those of a pool. */
export const nodeListQuery = {
  prefix: { kind: 'string', default: '', description: 'The beginning of the id.' },
  resources: { kind: 'boolean', default: false, description: 'Include the resources.' },
  os: { kind: 'boolean', default: false, description: 'Include the operating system.' },
} as const;

const EvaluatedSchema = Type.Object({
  EvalIDs: Type.Array(Type.String()),
  EvalCreateIndex: Whole(),
  NodeModifyIndex: Whole(),
  Index: Whole(),
});

const DrainRequestSchema = Type.Object({
  NodeID: Text(),
  DrainSpec: Nullable(DrainSpecSchema),
  MarkEligible: Flag(),
  Meta: TextMap(),
});

const EligibilityRequestSchema = Type.Object({
  NodeID: Text(),
  Eligibility: Choice(eligibilities),
});

/** What operators and users see of nodes, and do to them. */
export function nodeRoutes(server: Server): Route[] {
  return [
    listRoute({
      method: 'GET',
      path: '/v1/nodes',
      noun: 'node',
      summary: 'List nodes',
      blocking: true,
      query: nodeListQuery,
      answer: PresentedNodeSchema,
      filterSchema: PresentedNodeSchema,
      record: presentNode,
      permission: readSomeNode,
      visible: readThatNode,
      asksEach: true,
      rows: ({ query, snapshot }, { from, reverse }) =>
        snapshot.table(nodes).scan({ text: query.prefix, ...(from && { from }), reverse }),
      keyOf: (node: Node) => [node.ID],
      present: (node, { query }) => nodeStub(node, query),
    }),
    readRoute({
      method: 'GET',
      path: '/v1/node/:node_id',
      noun: 'node',
      summary: 'Read a node',
      blocking: true,
      answer: PresentedNodeSchema,
      permission: (scope) => anyOf(readNode(scope), itself(scope)),
      handle: (scope) => presentNode(requireNode(scope)),
    }),
    listRoute({
      method: 'GET',
      path: '/v1/node/:node_id/allocations',
      noun: 'node',
      summary: 'List the allocations of a node',
      blocking: true,
      answer: WholeAllocationSchema,
      filterSchema: AllocationSchema,
      permission: readNode,
      rows: (input, { from, reverse }) => {
        const { parameters, snapshot, unwatched } = input;
        // A node that is missing is waited for; what else changes of it is none of the list's.
        const { ID } = unwatched.table(nodes).get(parameters.node_id!) ?? requireNode(input);
        const range = { prefix: [ID], ...(from && { from }), reverse };
        return snapshot.table(allocations).by('node').scan(range);
      },
      keyOf: ({ NodeID, Namespace, ID }) => [NodeID, ...inNamespace(Namespace, ID)],
      visible: ({ Namespace }) => namespaceCapability(Namespace, 'read-job'),
      asksEach: true,
      present: (allocation, { unwatched }) =>
        wholeAllocation(allocation, jobOf(unwatched, allocation)),
    }),
    ...(['PUT', 'POST'] as const).flatMap((method) => nodeWrites(server, method)),
  ];
}

function nodeWrites(server: Server, method: 'PUT' | 'POST'): Route[] {
  const { context } = server;
  const noun = 'node';
  const answer = EvaluatedSchema;
  return [
    writeRoute({
      ...{ method, path: '/v1/node/:node_id/drain', noun, answer },
      summary: 'Empty a node, change how, or cancel that',
      body: { schema: DrainRequestSchema, unknown: 'refuse' },
      permission: writeNode,
      handle: async ({ parameters, body, caller }: Input<NoQuery, DrainBody>) => {
        const id = sameNode(parameters.node_id!, body.NodeID);
        const { DrainSpec, MarkEligible, Meta } = complete(DrainRequestSchema, body);
        const accessor = 'accessor' in caller ? caller.accessor : '';
        const request = { spec: DrainSpec, markEligible: MarkEligible, meta: Meta, accessor };
        return reply(await drainNode(context, id, request));
      },
    }),
    writeRoute({
      ...{ method, path: '/v1/node/:node_id/eligibility', noun, answer },
      summary: 'Say whether the scheduler may place on a node',
      body: { schema: EligibilityRequestSchema, unknown: 'refuse' },
      permission: writeNode,
      handle: async ({ parameters, body }: Input<NoQuery, EligibilityBody>) => {
        const id = sameNode(parameters.node_id!, body.NodeID);
        const eligibility = eligibilities.find((word) => word === body.Eligibility);
        if (eligibility === undefined) {
          const message = `Eligibility is required: ${eligibilities.join(' or ')}`;
          throw invalid('invalid-body', [{ pointer: '/Eligibility', message }]);
        }
        return reply(await setEligibility(context, id, eligibility));
      },
    }),
    writeRoute({
      ...{ method, path: '/v1/node/:node_id/evaluate', noun, answer },
      summary: 'Have the scheduler look at all that a node concerns',
      permission: writeNode,
      handle: async ({ parameters }) => reply(await evaluateNodeNow(context, parameters.node_id!)),
    }),
    writeRoute({
      ...{ method, path: '/v1/node/:node_id/purge', noun, answer },
      summary: 'Forget a node; what ran there goes elsewhere',
      permission: writeNode,
      handle: async ({ parameters }) => {
        const id = parameters.node_id!;
        const purged = await purgeNode(context, id);
        server.forgetNode(id);
        return reply(purged);
      },
    }),
  ];
}

type NoQuery = Record<never, never>;
type DrainBody = Parameters<typeof complete<typeof DrainRequestSchema>>[1];
type EligibilityBody = Parameters<typeof complete<typeof EligibilityRequestSchema>>[1];

const reply = (value: NodeEvaluated) => ({ index: value.Index, value });

/** @throws RosterError `id-mismatch` */
function sameNode(path: string, body: string | null | undefined): string {
  if (body && body !== path) throw refusal('id-mismatch', { noun: 'node', body, path });
  return path;
}

/** A node in a list. */
export function nodeStub(node: Node, show: { readonly resources: boolean; readonly os: boolean }) {
  const { ID, Name, Datacenter, NodeClass, NodePool, HTTPAddr, Status, StatusDescription } = node;
  const { SchedulingEligibility, Drain, LastDrain, CreateIndex, ModifyIndex } = node;
  return {
    ...{ ID, Name, Datacenter, NodeClass, NodePool, Address: HTTPAddr, Status, StatusDescription },
    ...{ SchedulingEligibility, Drain, LastDrain, CreateIndex, ModifyIndex },
    Drivers: presentDrivers(node),
    Version: node.Attributes['roster.version'] ?? '',
    ...(show.os && { Attributes: operatingSystem(node) }),
    ...(show.resources && {
      NodeResources: node.NodeResources,
      ReservedResources: node.ReservedResources,
    }),
  };
}

const operatingSystem = ({ Attributes }: Node): Record<string, string> =>
  Object.fromEntries(Object.entries(Attributes).filter(([name]) => name.startsWith('os.')));

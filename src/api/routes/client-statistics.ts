import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { AllocationUsageSchema } from '../../model/allocation/resource-usage.ts';
import { refusal } from '../../model/errors.ts';
import { NodeUsageSchema } from '../../model/node/node-usage.ts';
import { anyOf, namedAccess, resourceAccess } from '../../model/permission/permission.ts';
import { Type } from '../../model/schema.ts';
import type { Server } from '../../server/server.ts';
import { nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { type Answer, jsonType } from '../http.ts';
import type { QueryTable } from '../query.ts';
import { type Input, type Route, type Scope, streamRoute } from '../route.ts';
import { allocationById, inItsNamespace } from './allocation.ts';
import { askNodeForText } from './ask-node.ts';

const nodeQuery = {
  node_id: {
    kind: 'string',
    default: '',
    description: 'The node; not needed where there is one only.',
  },
} as const satisfies QueryTable;

type NodeInput = Input<typeof nodeQuery>;

const collecting = (scope: Scope) =>
  anyOf(inItsNamespace('submit-job')(scope), inItsNamespace('gc-allocation')(scope));

/** What a node and its tasks use, and letting go of what is over. */
export function clientStatisticsRoutes(server: Server): Route[] {
  const shared = { method: 'GET', noun: 'client' } as const;
  const ask = (nodeId: string, kind: string, params: object, signal: AbortSignal) =>
    askNodeForText(server, { nodeId, kind, params: { ...params }, signal });
  return [
    streamRoute({
      ...shared,
      path: '/v1/client/allocation/:alloc_id/stats',
      summary: 'Tell what the tasks of an allocation use',
      answer: AllocationUsageSchema,
      permission: inItsNamespace('read-job'),
      handle: async ({ parameters, unwatched }, signal) => {
        const { ID, NodeID } = allocationById(unwatched, parameters.alloc_id!);
        return json(await ask(NodeID, 'allocation-usage', { alloc_id: ID }, signal));
      },
    }),
    streamRoute({
      ...shared,
      path: '/v1/client/stats',
      summary: 'Tell what a node uses',
      query: nodeQuery,
      answer: NodeUsageSchema,
      permission: onNode('read'),
      handle: async (input: NodeInput, signal) =>
        json(await ask(requireNodeOf(input), 'node-usage', {}, signal)),
    }),
    streamRoute({
      ...shared,
      path: '/v1/client/allocation/:alloc_id/gc',
      summary: 'Remove an allocation that is over, with its files, from its node',
      answer: Type.Object({}),
      permission: collecting,
      handle: async ({ parameters, unwatched }, signal) => {
        const allocation = allocationById(unwatched, parameters.alloc_id!);
        const { ID, NodeID } = allocation;
        if (!isClientTerminal(allocation)) throw refusal('not-over', { id: ID });
        await ask(NodeID, 'collect', { alloc_id: ID }, signal);
        return json('{}');
      },
    }),
    streamRoute({
      ...shared,
      path: '/v1/client/gc',
      summary: 'Remove all allocations that are over, with their files, from a node',
      query: nodeQuery,
      answer: Type.Object({}),
      permission: onNode('write'),
      handle: async (input: NodeInput, signal) => {
        await ask(requireNodeOf(input), 'collect', {}, signal);
        return json('{}');
      },
    }),
  ];
}

const json = (body: string): Answer => ({ status: 200, headers: jsonType, body });

/** A refusal speaks of nodes as such: it does not tell whose name the id is. */
const onNode = (access: 'read' | 'write') => (input: NodeInput) => {
  const node = input.unwatched.table(nodes).get(nodeIdOf(input) ?? '');
  const named = node && namedAccess('node', access, node.Name);
  return named !== undefined && input.allows(named) ? named : resourceAccess('node', access);
};

/** @throws RosterError `node-not-found`, or `invalid-query` where it is not clear which one */
function requireNodeOf(input: NodeInput): string {
  const id = nodeIdOf(input);
  if (id === undefined) {
    const reason = 'is required where there is not one node only';
    throw refusal('invalid-query', { parameter: 'node_id', reason });
  }
  if (input.unwatched.table(nodes).get(id) === undefined) throw refusal('node-not-found', { id });
  return id;
}

const nodeIdOf = ({ query, unwatched }: NodeInput): string | undefined =>
  query.node_id || onlyNode(unwatched);

function onlyNode(snapshot: Snapshot): string | undefined {
  const found: string[] = [];
  for (const { ID } of snapshot.table(nodes).scan({})) {
    found.push(ID);
    if (found.length > 1) return undefined;
  }
  return found[0];
}

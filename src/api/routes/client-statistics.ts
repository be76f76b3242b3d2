import { clientStatisticsEndpoints as contract } from '../../contract/client-statistics.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { refusal } from '../../model/errors.ts';
import { countersIn } from '../../model/node/node-counters.ts';
import type { Server } from '../../server/server.ts';
import { nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { type Answer, jsonType } from '../http.ts';
import { chosenForm, typeOfForm, written } from '../metrics/exposition.ts';
import { countedFamilies, rowsOfNode } from '../metrics/node-families.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveStream } from '../serve.ts';
import { allocationById, allocationIn } from './allocation.ts';
import { askNodeForText } from './ask-node.ts';

type NodeInput = Pick<InputOf<typeof contract.nodeUsage>, 'query' | 'unwatched'>;

/** Resource usage of nodes and tasks, and removal of terminal allocations. */
export function clientStatisticsRoutes(server: Server): Route[] {
  const ask = (nodeId: string, kind: string, params: object, signal: AbortSignal) =>
    askNodeForText(server, { nodeId, kind, params: { ...params }, signal });
  return [
    ...serveStream(
      contract.allocationUsage,
      async ({ parameters, unwatched }, signal) => {
        const { ID, NodeID } = allocationById(unwatched, parameters.alloc_id!);
        return json(await ask(NodeID, 'allocation-usage', { alloc_id: ID }, signal));
      },
      { found: allocationIn },
    ),
    ...serveStream(
      contract.nodeUsage,
      async (input, signal) => json(await ask(requireNodeOf(input), 'node-usage', {}, signal)),
      { found: nodeMeant },
    ),
    ...serveStream(contract.nodeMetrics, async (input, signal) => {
      const { query, header, unwatched } = input;
      const form = chosenForm(query.format || 'prometheus', header('accept'));
      const nodeId = requireNodeOf(input);
      const counters = countersIn(await ask(nodeId, 'counters', {}, signal));
      if (counters === undefined) throw refusal('node-unreachable', { node: nodeId });
      const rows = rowsOfNode(unwatched, nodeId);
      const body = written(rows === undefined ? [] : countedFamilies(rows, counters), form);
      return { status: 200, headers: { 'content-type': typeOfForm[form] }, body };
    }),
    ...serveStream(
      contract.collectAllocation,
      async ({ parameters, unwatched }, signal) => {
        const allocation = allocationById(unwatched, parameters.alloc_id!);
        const { ID, NodeID } = allocation;
        if (!isClientTerminal(allocation)) throw refusal('not-over', { id: ID });
        await ask(NodeID, 'collect', { alloc_id: ID }, signal);
        return json('{}');
      },
      { found: allocationIn },
    ),
    ...serveStream(
      contract.collectNode,
      async (input, signal) => {
        await ask(requireNodeOf(input), 'collect', {}, signal);
        return json('{}');
      },
      { found: nodeMeant },
    ),
  ];
}

const json = (body: string): Answer => ({ status: 200, headers: jsonType, body });

/** The row that the permission depends on. */
const nodeMeant = (input: NodeInput) => input.unwatched.table(nodes).get(nodeIdOf(input) ?? '');

/** @throws RosterError `node-not-found`, or `invalid-query` if several nodes are possible */
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

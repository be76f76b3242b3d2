import { nodeEndpoints as contract, DrainRequestSchema } from '../../contract/node.ts';
import { wholeAllocation } from '../../model/allocation/present.ts';
import { complete } from '../../model/complete.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { eligibilities, type Node } from '../../model/node/node.ts';
import { presentDrivers, presentNode } from '../../model/node/present.ts';
import { drainNode } from '../../server/nodes/drain.ts';
import { setEligibility } from '../../server/nodes/eligibility.ts';
import { evaluateNodeNow, type NodeEvaluated } from '../../server/nodes/evaluate.ts';
import { purgeNode } from '../../server/nodes/purge.ts';
import type { Server } from '../../server/server.ts';
import { allocations, inNamespace, nodes } from '../../state/tables.ts';
import type { BaseInput, Route } from '../route.ts';
import { type InputOf, serveList, serveRead, serveWrite } from '../serve.ts';
import { jobOf } from './allocation.ts';
import { nodeTopologyRoutes } from './node-topology.ts';

/** @throws RosterError `node-not-found` */
export function requireNode({ parameters, snapshot }: BaseInput): Node {
  const node = snapshot.table(nodes).get(parameters.node_id!);
  if (node === undefined) throw refusal('node-not-found', { id: parameters.node_id! });
  return node;
}

const nodeIn = ({ parameters, unwatched }: Pick<BaseInput, 'parameters' | 'unwatched'>) =>
  unwatched.table(nodes).get(parameters.node_id!);

export function nodeRoutes(server: Server): Route[] {
  return [
    ...serveList(contract.list, {
      record: presentNode,
      rows: ({ query, snapshot }, { from, reverse }) =>
        snapshot.table(nodes).scan({ text: query.prefix, ...(from && { from }), reverse }),
      keyOf: (node: Node) => [node.ID],
      follows: ({ query }) => ({
        table: nodes.name,
        order: 'up',
        isIn: ({ ID }) => ID.startsWith(query.prefix),
      }),
      present: (node, { query }) => nodeStub(node, query),
    }),
    ...serveRead(contract.read, (scope) => presentNode(requireNode(scope)), { found: nodeIn }),
    ...serveList(contract.allocations, {
      found: nodeIn,
      rows: (input, { from, reverse }) => {
        const { parameters, snapshot, unwatched } = input;
        // Changes of the node do not wake the list, unless the node is missing.
        const { ID } = unwatched.table(nodes).get(parameters.node_id!) ?? requireNode(input);
        const range = { prefix: [ID], ...(from && { from }), reverse };
        return snapshot.table(allocations).by('node').scan(range);
      },
      keyOf: ({ NodeID, Namespace, ID }) => [NodeID, ...inNamespace(Namespace, ID)],
      present: (allocation, { unwatched, query }) =>
        wholeAllocation(allocation, query.job ? jobOf(unwatched, allocation) : null),
    }),
    ...nodeTopologyRoutes(server),
    ...nodeWrites(server),
  ];
}

function nodeWrites(server: Server): Route[] {
  const { context } = server;
  const own = { found: nodeIn };
  const drain = async ({ parameters, body, caller }: InputOf<typeof contract.drain>) => {
    const id = sameNode(parameters.node_id, body.NodeID);
    const { DrainSpec, MarkEligible, Meta } = complete(DrainRequestSchema, body);
    const accessor = 'accessor' in caller ? caller.accessor : '';
    const request = { spec: DrainSpec, markEligible: MarkEligible, meta: Meta, accessor };
    return reply(await drainNode(context, id, request));
  };
  return [
    ...serveWrite(contract.drain, drain, own),
    ...serveWrite(
      contract.setEligibility,
      async ({ parameters, body }) => {
        const id = sameNode(parameters.node_id, body.NodeID);
        const eligibility = eligibilities.find((word) => word === body.Eligibility);
        if (eligibility === undefined) {
          const message = `Eligibility is required: ${eligibilities.join(' or ')}`;
          throw invalid('invalid-body', [{ pointer: '/Eligibility', message }]);
        }
        return reply(await setEligibility(context, id, eligibility));
      },
      own,
    ),
    ...serveWrite(
      contract.evaluate,
      async ({ parameters }) => reply(await evaluateNodeNow(context, parameters.node_id)),
      own,
    ),
    ...serveWrite(
      contract.purge,
      async ({ parameters: { node_id: id } }) => {
        const purged = await purgeNode(context, id);
        server.forgetNode(id);
        return reply(purged);
      },
      own,
    ),
  ];
}

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
    ID,
    Name,
    Datacenter,
    NodeClass,
    NodePool,
    Address: HTTPAddr,
    Status,
    StatusDescription,
    SchedulingEligibility,
    Drain,
    LastDrain,
    CreateIndex,
    ModifyIndex,
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

import { nodeEndpoints as contract } from '../../contract/node.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Node } from '../../model/node/node.ts';
import type { NodeTopology } from '../../model/node/topology.ts';
import { Topology } from '../../server/nodes/topology.ts';
import type { Server } from '../../server/server.ts';
import { nodes } from '../../state/tables.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveList } from '../serve.ts';

/** Source: docs/behaviour/nodes.md#topology. */
export function nodeTopologyRoutes({ context: { state } }: Server): Route[] {
  const topology = new Topology();
  state.onReplaced(() => topology.forgetAll());
  state.onCommit((changes) => {
    for (const { table, before, after } of changes) {
      if (table !== nodes.name || after !== undefined) continue;
      topology.forget((before as unknown as Node).ID);
    }
  });
  const shown = (node: Node, input: InputOf<typeof contract.topology>) =>
    topology.of(input.snapshot, node, keysIn(input));
  return serveList(contract.topology, {
    rows: ({ snapshot }, { from, reverse }) =>
      snapshot.table(nodes).scan({ ...(from && { from }), reverse }),
    keyOf: (node: Node) => [node.ID],
    record: shown,
    present: shown,
    sortedBy: (node, field, input) => {
      const isOfRow = !Object.hasOwn(sums, field);
      return isOfRow
        ? node[field as keyof Node]
        : sums[field as keyof typeof sums](shown(node, input));
    },
  });
}

/** The values of a node that follow from its allocations, as whole numbers, by which lists are sorted. */
const sums = {
  Allocations: ({ Allocations }: NodeTopology) =>
    Object.values(Allocations).reduce((sum, count) => sum + count, 0),
  CPU: (node: NodeTopology) => shareOf(node, 'CPU'),
  MemoryMB: (node: NodeTopology) => shareOf(node, 'MemoryMB'),
  DiskMB: (node: NodeTopology) => shareOf(node, 'DiskMB'),
};

/** In millionths. */
const shareOf = (
  { Allocated, Capacity }: NodeTopology,
  resource: keyof NodeTopology['Capacity'],
) => (Capacity[resource] > 0 ? Math.round((1e6 * Allocated[resource]) / Capacity[resource]) : 0);

/** @throws RosterError `invalid-query` */
function keysIn({ query: { meta } }: InputOf<typeof contract.topology>): readonly string[] {
  if (meta.length === 0) return ['rack'];
  const most = limits.node.topologyMetaMax;
  if (meta.length <= most) return meta;
  const reason = `can be given ${most} times at most`;
  throw refusal('invalid-query', { parameter: 'meta', reason });
}

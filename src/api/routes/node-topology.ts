import { nodeEndpoints as contract } from '../../contract/node.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Node } from '../../model/node/node.ts';
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
  });
}

/** @throws RosterError `invalid-query` */
function keysIn({ query: { meta } }: InputOf<typeof contract.topology>): readonly string[] {
  if (meta.length === 0) return ['rack'];
  const most = limits.node.topologyMetaMax;
  if (meta.length <= most) return meta;
  const reason = `can be given ${most} times at most`;
  throw refusal('invalid-query', { parameter: 'meta', reason });
}

import { refusal } from '../../model/errors.ts';
import { nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/** The node that a request names by `node_id`; empty: none is named. @throws RosterError `node-not-found` */
export function namedNode(input: {
  readonly query: { readonly node_id: string };
  readonly unwatched: Snapshot;
}): string {
  const id = input.query.node_id;
  if (id !== '' && input.unwatched.table(nodes).get(id) === undefined) {
    throw refusal('node-not-found', { id });
  }
  return id;
}

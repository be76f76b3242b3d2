import type { Node } from '../../model/node/node.ts';

/** Names of nodes need not be unique, so they have their ids as well. */
export const labelsOfNode = ({ NodePool, Name, ID }: Pick<Node, 'NodePool' | 'Name' | 'ID'>) => ({
  pool: NodePool,
  node: Name,
  node_id: ID,
});

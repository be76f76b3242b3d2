/** Mistakes of restores. */
import type { Mistake } from './mistake.ts';

export const ofRestores: readonly Mistake[] = [
  {
    name: 'a node hears of its allocations before it hears of a restore',
    places: [
      {
        file: 'src/server/snapshots/node-returns.ts',
        right:
          'if (this.#registered.has(nodeId) || this.#restore() === undefined) return;\n    throw',
        wrong: 'if (nodeId) return;\n    throw',
      },
    ],
    guarantee: 'allocations that a restored snapshot does not know go on',
    life: { seed: 1, nodes: 5, hours: 0.3, restores: true },
  },
  {
    name: 'the index of a list goes back in a restore',
    places: [
      {
        file: 'src/state/draft.ts',
        right: 'for (const { index: order } of ordersOf(table)) order.restoreAt(index);',
        wrong: '',
      },
    ],
    guarantee: 'a watch misses no change',
    life: { seed: 1, nodes: 5, hours: 0.3, restores: true },
  },
  {
    name: 'a restore drops the nodes of its own cluster',
    places: [
      {
        file: 'src/server/snapshots/restore.ts',
        right: 'if (ID !== header.ClusterID) becomeAnotherCluster(transaction, world);',
        wrong: 'becomeAnotherCluster(transaction, world);',
      },
    ],
    guarantee: 'a restore is whole',
    life: { seed: 1, nodes: 5, hours: 0.3, restores: true },
  },
];

/** Mistakes of servers that follow, and of leadership that moves. */
import type { Mistake } from './mistake.ts';

export const ofServers: readonly Mistake[] = [
  {
    name: 'who follows keeps every fifth row that another server deleted',
    places: [
      {
        file: 'src/state/replica.ts',
        right: 'const change = this.#changeOf(table, entry, values, place);',
        wrong:
          'const change = this.#changeOf(table, entry, values, place); if (!this.#isLoading && change.after === undefined && index % 5 === 0) continue;',
      },
    ],
    guarantee: 'every server shows the log',
    life: { seed: 1, nodes: 3, hours: 0.1, servers: 2 },
  },
  {
    name: 'who follows answers every read at once',
    places: [
      {
        file: 'src/api/forward.ts',
        right: 'if (ready !== undefined) return ready.then(here).catch(elsewhere);',
        wrong: '',
      },
    ],
    guarantee: 'a read is exact',
    life: { seed: 1, nodes: 10, hours: 0.3, servers: 3 },
  },
  {
    name: 'the log takes what a leader of a term that is over appends',
    places: [
      {
        file: 'src/state/engine/shared-memory.ts',
        right: '    this.#requireEpoch(epoch);\n    if (expectedIndex !== this.#index)',
        wrong: '    if (expectedIndex > this.#index)',
      },
    ],
    guarantee: 'every server shows the log',
    life: { seed: 1, nodes: 3, hours: 0.3, servers: 2 },
  },
];

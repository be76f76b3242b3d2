/** Mistakes of followers and of leadership. */
import type { Mistake } from './mistake.ts';

export const ofServers: readonly Mistake[] = [
  {
    name: 'a follower keeps rows that the leader deletes in every fifth commit',
    places: [
      {
        file: 'src/state/replica.ts',
        right: 'const change = this.#changeOf(table, entry, values, place);',
        wrong:
          'const change = this.#changeOf(table, entry, values, place); if (!this.#isLoading && change.after === undefined && index % 5 === 0) continue;',
      },
    ],
    guarantee: 'every server agrees with the log',
    life: { seed: 1, nodes: 3, hours: 0.1, servers: 2 },
  },
  {
    name: 'a follower answers reads before it has caught up',
    places: [
      {
        file: 'src/api/forward.ts',
        right: 'if (ready !== undefined) return ready.then(here).catch(elsewhere);',
        wrong: '',
      },
    ],
    guarantee: 'a read sees every durable write',
    life: { seed: 1, nodes: 10, hours: 0.3, servers: 3 },
  },
  {
    name: 'the log takes batches of a deposed leader',
    places: [
      {
        file: 'src/state/engine/shared-memory.ts',
        right: '    this.#requireEpoch(epoch);\n    if (expectedIndex !== this.#index)',
        wrong: '    if (expectedIndex > this.#index)',
      },
    ],
    guarantee: 'every server agrees with the log',
    life: { seed: 1, nodes: 3, hours: 0.3, servers: 2 },
  },
];

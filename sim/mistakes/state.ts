/** Mistakes of the state and its log. */
import type { Mistake } from './mistake.ts';

export const ofTheState: readonly Mistake[] = [
  {
    name: 'rows of every fiftieth commit keep their old index',
    places: [
      {
        file: 'src/state/head.ts',
        right: 'ModifyIndex: index,',
        wrong: 'ModifyIndex: index % 50 === 0 ? (before?.ModifyIndex ?? index) : index,',
      },
    ],
    guarantee: 'the index only rises',
    life: { seed: 1, nodes: 3, hours: 0.05 },
  },
  {
    name: 'a deleted row raises no index',
    places: [
      {
        file: 'src/state/ordered-index.ts',
        right: '    this.#marks.set(group + key, index);\n    this.#noteLast(scope, index);\n  }',
        wrong: '  }',
      },
    ],
    guarantee: 'a watch misses no change',
    life: { seed: 1, nodes: 3, hours: 0.05 },
  },
  {
    name: 'a third of the keys wake no watch',
    places: [
      {
        file: 'src/state/watches.ts',
        right: 'if (range.length > prefix.length && !key.startsWith(range)) continue;',
        wrong:
          'if (key.length % 3 === 0 || (range.length > prefix.length && !key.startsWith(range))) continue;',
      },
    ],
    guarantee: 'a watch misses no change',
    life: { seed: 1, nodes: 3, hours: 0.05 },
  },
  {
    name: 'a write is acknowledged before it is durable',
    places: [
      {
        file: 'src/state/run-write.ts',
        right: 'if (ran !== undefined) return queue.add(ran, { settle, fail }, lingers);',
        wrong:
          'if (ran !== undefined) { settle(); return queue.add(ran, { settle() {}, fail() {} }, lingers); }',
      },
    ],
    guarantee: 'no acknowledged write is lost',
    life: { seed: 1, nodes: 3, hours: 0.1 },
  },
  {
    name: 'the last batch of the log is dropped at a restart',
    places: [
      {
        file: 'src/state/engine/memory.ts',
        right: 'const check = new LogCheck(disk.snapshot);',
        wrong:
          'if (disk.log.pop() !== undefined) disk.acknowledged--; const check = new LogCheck(disk.snapshot);',
      },
    ],
    guarantee: 'the index only rises',
    life: { seed: 1, nodes: 3, hours: 0.1 },
  },
  {
    name: 'a log that continues after a snapshot is refused for a gap',
    places: [
      {
        file: 'src/state/engine/log-check.ts',
        right: 'this.#sequence = snapshot.sequence;',
        wrong: 'this.#sequence = 0;',
      },
    ],
    guarantee: 'the server restarts',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
];

/** The memory of a server on its machine: of the log in etcd, and a copy of the state. It outlives the program. */
import type { Bytes } from '../../src/state/codec.ts';
import type { CopyRecord, LocalCopy } from '../../src/state/engine/etcd/local-copy.ts';
import type { Seen, SeenLog } from '../../src/state/engine/etcd/seen.ts';

export class KeptMemory {
  /** How far the server has known which log. */
  log: SeenLog | undefined;
  #copy: { readonly record: CopyRecord; readonly parts: readonly Bytes[] } | undefined;

  readonly seen: Seen = {
    read: async () => this.log,
    keep: async (log) => {
      this.log = log;
    },
  };

  readonly copy: LocalCopy = {
    read: async () => {
      const kept = this.#copy;
      return kept && { record: kept.record, parts: every(kept.parts) };
    },
    keep: async (record, parts) => {
      const found: Bytes[] = [];
      for await (const part of parts) found.push(part.slice());
      this.#copy = { record, parts: found };
    },
  };
}

async function* every(parts: readonly Bytes[]): AsyncGenerator<Bytes> {
  for (const part of parts) yield part.slice();
}

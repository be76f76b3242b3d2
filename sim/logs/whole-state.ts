/**
 * Judges what etcd holds, at each change of a snapshot and of the log: a server that starts finds the whole state.
 *
 * 1. The pointer to a snapshot never goes back.
 * 2. The snapshots that it names have all their chunks.
 * 3. The log goes on without a gap from the older of these snapshots to the head.
 */
import type { Operation } from '../../src/state/engine/etcd/client.ts';
import { decodeHead } from '../../src/state/engine/etcd/head.ts';
import type { Keys } from '../../src/state/engine/etcd/keys.ts';
import { decodeEntry } from '../../src/state/engine/etcd/log-entry.ts';
import type { ModelStore } from '../../src/state/engine/etcd/model-store.ts';
import { decodePointer, type Pointer } from '../../src/state/engine/etcd/snapshot-form.ts';

export class WholeState {
  readonly #store: ModelStore;
  readonly #keys: Keys;
  readonly #fault: (sentence: string) => void;
  #snapshotIndex = 0;

  constructor(store: ModelStore, keys: Keys, fault: (sentence: string) => void) {
    this.#store = store;
    this.#keys = keys;
    this.#fault = fault;
  }

  /** Called after each transaction. */
  changed(operations: readonly Operation[]): void {
    const isConcerned = operations.some(
      (one) => one.kind === 'delete' || (one.kind === 'put' && one.key === this.#keys.pointer),
    );
    if (!isConcerned) return;
    const pointer = this.#pointer();
    this.#requireProgress(pointer);
    for (const record of [pointer?.current, pointer?.before]) {
      if (record === undefined) continue;
      const chunks = [...this.#store.look(this.#keys.chunks(record.id))].length;
      if (chunks === record.chunks) continue;
      this.#fault(
        `the snapshot at ${record.index} has ${chunks} of its ${record.chunks} chunks in etcd`,
      );
    }
    const gap = this.#gapAfter(pointer?.before?.index ?? 0);
    if (gap !== undefined) this.#fault(gap);
  }

  /** Etcd came back older, with the pointer to an older snapshot. */
  goBack(): void {
    this.#snapshotIndex = 0;
  }

  #pointer(): Pointer | undefined {
    const [found] = this.#store.look({ key: this.#keys.pointer });
    return found && decodePointer(found.value, found.key);
  }

  #requireProgress(pointer: Pointer | undefined): void {
    const index = pointer?.current.index ?? 0;
    if (index < this.#snapshotIndex) {
      this.#fault(
        `the pointer went from the snapshot at ${this.#snapshotIndex} to that at ${index}`,
      );
    }
    this.#snapshotIndex = index;
  }

  /** What the log lacks after the index. */
  #gapAfter(index: number): string | undefined {
    let [last, hash]: [number, string | undefined] = [index, undefined];
    for (const { key, value } of this.#store.look(this.#keys.everyEntry)) {
      const entry = decodeEntry(value, key);
      if (entry.last <= index) continue;
      if (entry.first !== last + 1 || entry.previous !== (hash ?? entry.previous)) {
        return `no batch of the log in etcd follows index ${last}`;
      }
      const parts = [...this.#store.look(this.#keys.parts(entry.first, entry.batch))].length;
      if (parts !== entry.parts) {
        return `the batch at ${entry.first} has ${parts} of its ${entry.parts} parts in etcd`;
      }
      [last, hash] = [entry.last, entry.hash];
    }
    const [head] = this.#store.look({ key: this.#keys.head });
    const end = head === undefined ? 0 : decodeHead(head.value, head.key).index;
    if (last === end) return undefined;
    return `the log in etcd ends at ${last}, but its head is at ${end}`;
  }
}

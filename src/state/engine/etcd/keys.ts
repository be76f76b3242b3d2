import type { KeySpan } from './client.ts';
import { under } from './client.ts';

// Not in limits: as many digits as the greatest index of etcd's own numbers has.
const digits = 20;

/** A number in a form whose texts order as the numbers do. */
export const ordered = (value: number): string => String(value).padStart(digits, '0');

/**
 * The keys of a cluster, below a prefix. Head, leader and log lie side by side, so that one watch has
 * all of them and nothing else.
 */
export class Keys {
  readonly head: string;
  readonly leader: string;
  readonly pointer: string;
  /** Written before each compaction, so that the compaction is fenced. */
  readonly compaction: string;
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.head = `${prefix}head`;
    this.leader = `${prefix}leader`;
    this.pointer = `${prefix}snapshot`;
    this.compaction = `${prefix}compaction`;
  }

  /** Head and leader, which one request reads at one revision. */
  get front(): KeySpan {
    return { key: this.head, end: `${this.leader}\0` };
  }

  /** Front and log, which a server watches that follows. */
  get watched(): KeySpan {
    return { key: this.head, end: this.everyEntry.end };
  }

  entry(firstIndex: number): string {
    return `${this.#prefix}log/${ordered(firstIndex)}`;
  }

  /** The entries of batches that begin after the index. */
  entriesAfter(index: number): KeySpan {
    return { key: this.entry(index + 1), end: this.everyEntry.end };
  }

  /** The entries of batches that begin at the index or before it. */
  entriesUpTo(index: number): KeySpan {
    return { key: `${this.#prefix}log/`, end: this.entry(index + 1) };
  }

  part(firstIndex: number, batchId: string, number: number): string {
    return `${this.#partsOf(firstIndex, batchId)}${ordered(number)}`;
  }

  parts(firstIndex: number, batchId: string): KeySpan {
    return under(this.#partsOf(firstIndex, batchId));
  }

  /** The entry of a server in the list of servers. */
  member(id: string): string {
    return `${this.#prefix}member/${id}`;
  }

  get members(): KeySpan {
    return under(`${this.#prefix}member/`);
  }

  get everyEntry(): KeySpan {
    return under(`${this.#prefix}log/`);
  }

  get everyPart(): KeySpan {
    return under(`${this.#prefix}part/`);
  }

  /** First index and batch id in the key of a part. */
  partOf(key: string): { readonly firstIndex: number; readonly batchId: string } {
    const [index, batchId = ''] = key.slice(`${this.#prefix}part/`.length).split('/');
    return { firstIndex: Number(index), batchId };
  }

  chunk(snapshotId: string, number: number): string {
    return `${this.#prefix}chunk/${snapshotId}/${ordered(number)}`;
  }

  chunks(snapshotId: string): KeySpan {
    return under(`${this.#prefix}chunk/${snapshotId}/`);
  }

  get everyChunk(): KeySpan {
    return under(`${this.#prefix}chunk/`);
  }

  /** Id of the snapshot in the key of a chunk. */
  snapshotOf(key: string): string {
    return key.slice(`${this.#prefix}chunk/`.length).split('/')[0] ?? '';
  }

  #partsOf(firstIndex: number, batchId: string): string {
    return `${this.#prefix}part/${ordered(firstIndex)}/${batchId}/`;
  }
}

import type { Bytes } from '../../codec.ts';
import type { EtcdClient, KeySpan, KeyValue } from './client.ts';
import { decodeHead, type LogHead } from './head.ts';
import type { Keys } from './keys.ts';
import type { EtcdLimits } from './limits.ts';
import { batchOf, decodeEntry, joined, type LogEntry, type ReadBatch } from './log-entry.ts';

/** Head and leader key at one revision. */
export interface Front {
  readonly head: LogHead | undefined;
  readonly leader: KeyValue | undefined;
  readonly revision: number;
  /** Id of the cluster of etcd. */
  readonly etcd: string;
}

/** Reads of the log. Each is linearizable, or of the revision of a linearizable read. */
export class LogReader {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #limits: EtcdLimits;

  constructor(client: EtcdClient, keys: Keys, limits: EtcdLimits) {
    this.#client = client;
    this.#keys = keys;
    this.#limits = limits;
  }

  async front(): Promise<Front> {
    const { header, keys } = await this.#client.range(this.#keys.front);
    const head = keys.find(({ key }) => key === this.#keys.head);
    return {
      head: head && decodeHead(head.value, head.key),
      leader: keys.find(({ key }) => key === this.#keys.leader),
      revision: header.revision,
      etcd: header.clusterId,
    };
  }

  /** The batches after the index as of the revision, in order. */
  async *batchesAfter(index: number, revision: number): AsyncGenerator<ReadBatch> {
    for await (const keyValue of this.values(this.#keys.entriesAfter(index), revision)) {
      yield await this.#batchIn(keyValue, revision);
    }
  }

  /** The next entry after the index as of the revision, without the bytes in parts. */
  async entryAfter(index: number, revision: number): Promise<LogEntry | undefined> {
    const span = this.#keys.entriesAfter(index);
    const { keys } = await this.#client.range({ ...span, revision, limit: 1 });
    return keys[0] && decodeEntry(keys[0].value, keys[0].key);
  }

  async #batchIn({ key, value }: KeyValue, revision: number): Promise<ReadBatch> {
    const entry = decodeEntry(value, key);
    if (entry.parts === 0) return batchOf(entry, entry.bytes, key);
    const span = this.#keys.parts(entry.first, entry.batch);
    const parts: Bytes[] = [];
    for await (const part of this.values(span, revision)) parts.push(part.value);
    return batchOf(entry, joined(parts), key);
  }

  /** The keys with their values, some at a time. */
  async *values(span: KeySpan, revision?: number): AsyncGenerator<KeyValue> {
    yield* this.#pages(span, { revision, limit: this.#limits.keysPerRange });
  }

  /** The keys alone. */
  async *names(span: KeySpan, revision?: number): AsyncGenerator<string> {
    const page = { revision, limit: this.#limits.namesPerRange, keysOnly: true };
    for await (const { key } of this.#pages(span, page)) yield key;
  }

  async *#pages(
    span: KeySpan,
    page: { readonly revision?: number | undefined; readonly limit: number; keysOnly?: boolean },
  ): AsyncGenerator<KeyValue> {
    let key = span.key;
    let { revision } = page;
    for (;;) {
      const { header, keys, more } = await this.#client.range({ ...page, ...span, key, revision });
      revision ??= header.revision;
      yield* keys;
      const last = keys.at(-1);
      if (!more || last === undefined) return;
      key = `${last.key}\0`;
    }
  }
}

import { createHash } from 'node:crypto';
import { assert } from '../../../base/assert.ts';
import type { Clock, Ids, Timers } from '../../../base/ports.ts';
import { delay } from '../../../base/ports.ts';
import { release } from '../../../base/release.ts';
import { unhurriedPause } from '../../../base/slices.ts';
import { noBatch } from '../../batch-hash.ts';
import { type Bytes, parse } from '../../codec.ts';
import { Fenced, StateCorrupted, StateError } from '../../errors.ts';
import { type Comparison, type EtcdClient, isUnknown, type TxnRequest } from './client.ts';
import { isTermOf, type LogHead } from './head.ts';
import type { Keys } from './keys.ts';
import type { EtcdLimits } from './limits.ts';
import { decodeEntry, joined, pieces } from './log-entry.ts';
import type { LogReader } from './log-reader.ts';
import {
  decodePointer,
  encodePointer,
  FrameReader,
  frameOf,
  type Pointer,
  type SnapshotRecord,
} from './snapshot-form.ts';

export interface SnapshotStoreOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly reader: LogReader;
  readonly limits: EtcdLimits;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly ids: Ids;
  /** Told of a snapshot that is damaged, and of a sweep that failed. */
  readonly report: (error: unknown) => void;
}

export interface LoadedSnapshot {
  readonly record: SnapshotRecord;
  readonly parts: Iterable<Bytes>;
}

/** The pointer with the bytes that a comparison needs. */
interface StoredPointer {
  readonly pointer: Pointer;
  readonly value: Bytes;
}

/**
 * Snapshots in etcd.
 *
 * Invariants
 *  N1. Chunks are put under the epoch, below an id of their own. The pointer names id, number and hashes.
 *  N2. The pointer moves when all chunks were read back and their content is what was to be stored. It
 *      compares epoch and its own value, and its index only grows.
 *  N3. The log is cut up to the snapshot before the newest one. Cut and sweep compare epoch and pointer.
 */
export class SnapshotStore {
  readonly #options: SnapshotStoreOptions;
  /** Id of the snapshot that is being written. */
  #writing: string | undefined;

  constructor(options: SnapshotStoreOptions) {
    this.#options = options;
  }

  /** The newest snapshot that is whole, as of the revision; else the snapshot before it. */
  async load(revision: number): Promise<LoadedSnapshot | undefined> {
    const stored = await this.#pointerAt(revision);
    if (stored === undefined) return undefined;
    const { current, before } = stored.pointer;
    try {
      return await this.#loadRecord(current, revision);
    } catch (error) {
      if (!(error instanceof StateCorrupted) || before === undefined) throw error;
      this.#options.report(error);
      return this.#loadRecord(before, revision);
    }
  }

  /** Stores a snapshot as of the index in the term of `head`. */
  async save(index: number, head: LogHead, parts: AsyncIterable<Bytes>): Promise<void> {
    const { ids } = this.#options;
    assert(this.#writing === undefined, 'a single snapshot is written at a time');
    const id = ids.uuid();
    this.#writing = id;
    try {
      const record = await this.#write({ id, index, head }, parts);
      await this.#compareContent(record);
      await this.#point(record, head);
    } finally {
      this.#writing = undefined;
    }
    // The snapshot is stored, whatever becomes of what it replaces.
    await this.clean(head).catch((error) => this.#options.report(error));
  }

  /** Removes what the pointer made superfluous, and what leaders of terms that are over left behind. */
  async clean(head: LogHead): Promise<void> {
    const stored = await this.#pointerAt();
    await this.#sweepChunks(stored, head);
    if (stored !== undefined) await this.#cutLog(stored, head);
    await this.#sweepParts(head);
  }

  async #write(
    snapshot: { readonly id: string; readonly index: number; readonly head: LogHead },
    parts: AsyncIterable<Bytes>,
  ): Promise<SnapshotRecord> {
    const { id, index, head } = snapshot;
    const { limits } = this.#options;
    const [sha256, content] = [createHash('sha256'), createHash('sha256')];
    let [hash, chunks, bytes]: [string | undefined, number, number] = [undefined, 0, 0];
    const put = async (chunk: Bytes) => {
      sha256.update(chunk);
      bytes += chunk.byteLength;
      const key = this.#options.keys.chunk(id, chunks++);
      await this.#transact({ success: [{ kind: 'put', key, value: chunk }] }, head);
    };
    let waiting: Bytes[] = [];
    let waitingBytes = 0;
    for await (const part of parts) {
      hash ??= (parse(part, 'the snapshot') as { readonly Hash?: string }).Hash ?? noBatch;
      content.update(part);
      const frame = frameOf(part);
      release(part);
      waiting.push(frame);
      waitingBytes += frame.byteLength;
      if (waitingBytes < limits.valueBytes) continue;
      const whole = joined(waiting);
      waiting.forEach(release);
      const full = pieces(whole, limits.valueBytes);
      waiting = full.at(-1)!.byteLength < limits.valueBytes ? [full.pop()!.slice()] : [];
      waitingBytes = waiting[0]?.byteLength ?? 0;
      for (const chunk of full) await put(chunk);
      release(whole);
    }
    if (waitingBytes > 0) await put(joined(waiting));
    const digests = { sha256: sha256.digest('hex'), contentSha256: content.digest('hex') };
    return { id, index, hash: hash ?? noBatch, chunks, bytes, ...digests };
  }

  /** Reads the snapshot back from etcd. @throws StateCorrupted */
  async #compareContent(record: SnapshotRecord): Promise<void> {
    const content = createHash('sha256');
    const frames = new FrameReader(placeOf(record));
    for await (const chunk of this.#chunksOf(record)) {
      for (const part of frames.read(chunk)) {
        content.update(part);
        release(part);
        await unhurriedPause(this.#options.timers);
      }
    }
    frames.end();
    if (content.digest('hex') === record.contentSha256) return;
    throw new StateCorrupted(placeOf(record), 'its content differs from the stored content');
  }

  async #point(record: SnapshotRecord, head: LogHead): Promise<void> {
    const { keys } = this.#options;
    const stored = await this.#pointerAt();
    const before = stored?.pointer.current;
    if (before !== undefined && before.index >= record.index) {
      throw new Fenced(`there is a snapshot at index ${before.index}`);
    }
    const value = encodePointer({ current: record, before });
    await this.#transact(
      {
        compare: [isPointer(keys, stored)],
        success: [{ kind: 'put', key: keys.pointer, value }],
        isDone: async () => (await this.#pointerAt())?.pointer.current.id === record.id,
      },
      head,
    );
  }

  /** Deletes the log up to the snapshot before the newest one. */
  async #cutLog(stored: StoredPointer, head: LogHead): Promise<void> {
    const { keys, reader } = this.#options;
    const index = stored.pointer.before?.index ?? 0;
    if (index === 0) return;
    const compare = [isPointer(keys, stored)];
    // Piece by piece, so that etcd does other work between two of them.
    const { key, end } = keys.entriesUpTo(index);
    for (;;) {
      const names = await this.#some(reader.names({ key, end }));
      const last = names.at(-1);
      if (last === undefined) break;
      const span = { key, end: `${last}\0` };
      await this.#transact({ compare, success: [{ kind: 'delete', ...span }] }, head);
    }
    const parts = { key: keys.everyPart.key, end: keys.part(index + 1, '', 0) };
    await this.#transact({ compare, success: [{ kind: 'delete', ...parts }] }, head);
  }

  async #sweepChunks(stored: StoredPointer | undefined, head: LogHead): Promise<void> {
    const { keys, reader } = this.#options;
    const { current, before } = stored?.pointer ?? {};
    const found = new Set<string>();
    for await (const name of reader.names(keys.everyChunk)) found.add(keys.snapshotOf(name));
    for (const id of found) {
      if (id === current?.id || id === before?.id || id === this.#writing) continue;
      const compare = [isPointer(keys, stored)];
      const success = [{ kind: 'delete', ...keys.chunks(id) } as const];
      await this.#transact({ compare, success }, head);
    }
  }

  /** Deletes parts of batches that never came into the log. Those of this term are left alone. */
  async #sweepParts(head: LogHead): Promise<void> {
    const { keys, reader, client } = this.#options;
    const found = new Map<string, { readonly firstIndex: number; readonly batchId: string }>();
    for await (const name of reader.names(keys.everyPart)) {
      const part = keys.partOf(name);
      // A batch that ends no later than the head is in the log or never will be.
      if (part.firstIndex <= head.index) found.set(part.batchId, part);
    }
    for (const { firstIndex, batchId } of found.values()) {
      const { keys: entries } = await client.range({ key: keys.entry(firstIndex) });
      const isNamed = entries.some(({ key, value }) => decodeEntry(value, key).batch === batchId);
      if (isNamed) continue;
      const span = keys.parts(firstIndex, batchId);
      await this.#transact({ success: [{ kind: 'delete', ...span }] }, head);
    }
  }

  async #pointerAt(revision?: number): Promise<StoredPointer | undefined> {
    const { client, keys } = this.#options;
    const answer = await client.range({ key: keys.pointer, revision });
    const [found] = answer.keys;
    if (found === undefined) return undefined;
    return { pointer: decodePointer(found.value, found.key), value: found.value };
  }

  /** Reads all chunks, and compares them with the hash, before the first part is decompressed. */
  async #loadRecord(record: SnapshotRecord, revision: number): Promise<LoadedSnapshot> {
    const chunks: Bytes[] = [];
    for await (const chunk of this.#chunksOf(record, revision)) chunks.push(chunk);
    return { record, parts: partsIn(chunks, record) };
  }

  /** The chunks of a snapshot. @throws StateCorrupted, at its end as well */
  async *#chunksOf(record: SnapshotRecord, revision?: number): AsyncGenerator<Bytes> {
    const { keys, reader } = this.#options;
    const sha256 = createHash('sha256');
    let chunks = 0;
    for await (const { value } of reader.values(keys.chunks(record.id), revision)) {
      chunks++;
      sha256.update(value);
      yield value;
    }
    if (chunks !== record.chunks) {
      throw new StateCorrupted(
        placeOf(record),
        `${chunks} of its ${record.chunks} chunks are there`,
      );
    }
    if (sha256.digest('hex') !== record.sha256) {
      throw new StateCorrupted(placeOf(record), 'its hash does not match');
    }
  }

  /**
   * Sends a change under the epoch until it has an answer. It may be applied twice: each does the same
   * again, or `isDone` says that it was done.
   */
  async #transact(
    change: {
      readonly compare?: readonly Comparison[];
      readonly success: TxnRequest['success'];
      readonly isDone?: () => Promise<boolean>;
    },
    head: LogHead,
  ): Promise<void> {
    const { client, keys, clock, timers, limits } = this.#options;
    const compare = [...isTermOf(keys.head, head), ...(change.compare ?? [])];
    const untilMs = clock.monotonicMs() + limits.settleMs;
    for (;;) {
      try {
        const { succeeded } = await client.transact({ compare, success: change.success });
        if (succeeded || (await change.isDone?.()) === true) return;
        throw new Fenced(`epoch ${head.epoch} has passed, or another snapshot was stored`);
      } catch (error) {
        if (!isUnknown(error) || error instanceof StateError) throw error;
        if (clock.monotonicMs() >= untilMs) throw error;
        await delay(timers, limits.retryMs);
      }
    }
  }

  async #some(names: AsyncGenerator<string>): Promise<string[]> {
    const found: string[] = [];
    for await (const name of names) {
      found.push(name);
      if (found.length === this.#options.limits.namesPerRange) break;
    }
    return found;
  }
}

/** @throws StateCorrupted */
function* partsIn(chunks: readonly Bytes[], record: SnapshotRecord): Generator<Bytes> {
  const frames = new FrameReader(placeOf(record));
  for (const chunk of chunks) yield* frames.read(chunk);
  frames.end();
}

const placeOf = ({ index }: SnapshotRecord): string => `the snapshot at index ${index} in etcd`;

/** Met while the pointer is the one that was read. */
const isPointer = (keys: Keys, stored: StoredPointer | undefined): Comparison =>
  stored === undefined
    ? { key: keys.pointer, is: 'absent' }
    : { key: keys.pointer, is: 'equal', value: stored.value };

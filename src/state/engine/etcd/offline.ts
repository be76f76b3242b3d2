import type { Ids } from '../../../base/ports.ts';
import { delay } from '../../../base/ports.ts';
import { hashDigits } from '../../batch-hash.ts';
import { MoveRefusal, StateError } from '../../errors.ts';
import type { LoadStep } from '../engine.ts';
import type { Filling, OfflineStore, Seal, Standing } from '../offline.ts';
import { isUnknown, type Operation } from './client.ts';
import { EtcdEngine } from './etcd.ts';
import { bytesText, encodeHead, firstHead, isHead, type LogHead } from './head.ts';
import { Keys } from './keys.ts';
import { etcdLimits } from './limits.ts';
import { type Front, LogReader } from './log-reader.ts';
import type { EtcdEngineOptions } from './options.ts';
import { SnapshotStore } from './snapshot-store.ts';

/**
 * A log in etcd while its state is moved. Nothing holds etcd: every change compares the whole head or its
 * term, so a server that leads meanwhile makes it fail.
 */
export class EtcdOffline implements OfflineStore {
  readonly name: string;
  readonly #options: EtcdEngineOptions;
  readonly #ids: Ids;
  readonly #keys: Keys;
  readonly #reader: LogReader;
  readonly #snapshots: SnapshotStore;
  /** As it was last read or put. */
  #head: LogHead | undefined;
  /** The head that `complete` puts. */
  #filled: LogHead | undefined;

  constructor(options: EtcdEngineOptions) {
    const limits = { ...etcdLimits, ...options.limits };
    const { client, prefix, where, ids } = options;
    this.name = `${where} (${prefix})`;
    this.#options = options;
    this.#ids = ids;
    this.#keys = new Keys(prefix);
    this.#reader = new LogReader(client, this.#keys, limits);
    const parts = { ...options, limits, keys: this.#keys, reader: this.#reader };
    this.#snapshots = new SnapshotStore(parts);
  }

  async open(): Promise<Standing> {
    const { head } = await this.front();
    this.#head = head;
    return { mark: head?.mark, isEmpty: head === undefined || (head.index === 0 && !head.mark) };
  }

  /** The end of a log that no server uses. @throws MoveRefusal */
  async front(): Promise<Front> {
    const front = await this.#reader.front();
    const { leader } = front;
    if (leader !== undefined) throw this.#inUse(`the server ${bytesText(leader.value)} leads`);
    const members: string[] = [];
    for await (const { value } of this.#reader.values(this.#keys.members)) {
      members.push(bytesText(value));
    }
    if (members.length > 0) throw this.#inUse(`servers run on it: ${members.join(', ')}`);
    return front;
  }

  load(): AsyncIterable<LoadStep> {
    return new EtcdEngine({ ...this.#options, readsMarked: true, seen: undefined }).load();
  }

  async fill({ index, hash: content, parts, from }: Filling): Promise<void> {
    const { pointer, everyEntry, everyPart, everyChunk } = this.#keys;
    const known = this.#head;
    // Servers that have known the sealed log find that it goes on from there.
    const hash = known?.index === index ? known.hash : content.slice(0, hashDigits);
    const mark = { kind: 'unfinished', from } as const;
    const begun = { ...this.#nextTerm(known), mark };
    const spans = [{ key: pointer }, everyEntry, everyPart, everyChunk];
    await this.#putHead(
      begun,
      spans.map((span) => ({ kind: 'delete', ...span })),
    );
    await this.#snapshots.save(index, begun, parts(hash));
    this.#filled = { ...begun, index, hash, batch: '', nonce: this.#ids.uuid(), mark: undefined };
  }

  async complete(): Promise<void> {
    await this.#putHead(this.#filled!, []);
  }

  async seal(seal: Seal): Promise<void> {
    await this.#putHead({ ...this.#nextTerm(this.#head), mark: { kind: 'moved', ...seal } }, []);
  }

  async close(): Promise<void> {
    await this.#options.client.close();
  }

  #nextTerm(known: LogHead | undefined): LogHead {
    const [server, nonce] = ['operator', this.#ids.uuid()];
    if (known === undefined) return firstHead(this.#ids.uuid(), server, nonce);
    return { ...known, epoch: known.epoch + 1, server, nonce };
  }

  /** Puts the head in place of the known one, until an answer tells. @throws MoveRefusal */
  async #putHead(next: LogHead, also: readonly Operation[]): Promise<void> {
    const { client, clock, timers } = this.#options;
    const { head: key, leader } = this.#keys;
    const untilMs = clock.monotonicMs() + etcdLimits.settleMs;
    const known = this.#head;
    const value = encodeHead(next);
    const unchanged = known === undefined ? ({ key, is: 'absent' } as const) : isHead(key, known);
    for (;;) {
      try {
        const { succeeded, ranges } = await client.transact({
          compare: [unchanged, { key: leader, is: 'absent' }],
          success: [...also, { kind: 'put', key, value }],
          failure: [{ kind: 'range', range: { key } }],
        });
        const found = ranges[0]?.[0]?.value;
        // A request without an answer, or one that was delivered twice, finds what it put.
        const isOurs = succeeded || (found !== undefined && Buffer.compare(found, value) === 0);
        if (!isOurs) throw this.#inUse('a server has begun to use it');
        this.#head = next;
        return;
      } catch (error) {
        const isOver = clock.monotonicMs() >= untilMs;
        if (!isUnknown(error) || error instanceof StateError || isOver) throw error;
        await delay(timers, etcdLimits.retryMs);
      }
    }
  }

  #inUse(how: string): MoveRefusal {
    return new MoveRefusal(`${this.name} is in use: ${how}. Stop all its servers first`);
  }
}

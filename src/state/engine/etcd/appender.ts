import type { Clock, Ids, Timers } from '../../../base/ports.ts';
import { delay } from '../../../base/ports.ts';
import { release } from '../../../base/release.ts';
import { batchHash } from '../../batch-hash.ts';
import { Fenced, OutcomeUnknown, StateError } from '../../errors.ts';
import type { Batch } from '../engine.ts';
import { type EtcdClient, isUnknown, type Operation, type TxnAnswer } from './client.ts';
import { decodeHead, encodeHead, isHead, isTermOf, type LogHead } from './head.ts';
import type { Keys } from './keys.ts';
import type { EtcdLimits } from './limits.ts';
import { decodeEntry, encodeEntry, type Packed, packed, pieces } from './log-entry.ts';

export interface AppenderOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly limits: EtcdLimits;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly ids: Ids;
}

/** An append under way. */
interface Sending {
  readonly batch: Batch;
  readonly id: string;
  /** The head that its request compares. */
  readonly known: LogHead;
  /** The head that it leaves. */
  readonly next: LogHead;
  /** Nonces of this process that may have taken the place of the known head. */
  readonly nonces: string[];
  readonly untilMs: number;
}

export interface Appended {
  readonly head: LogHead;
  /** Whether the head is still as the append left it. */
  readonly isHead: boolean;
}

/**
 * Puts a batch at the end of the log.
 *
 * Invariants
 *  A1. The entry and the head that names it are put in one transaction, which compares the whole head.
 *  A2. The bytes of a batch that is too large for one request lie in parts, each put under the epoch.
 *      Parts exist only by the entry that names their batch.
 *  A3. An append without a plain answer is settled by a write: the head with another nonce, under the
 *      same comparison. If that succeeds, the comparison of the append can never be met again.
 *  A4. A failed comparison tells nothing by itself, since a request may be delivered twice. The head and
 *      the entry as of that revision decide.
 */
export class Appender {
  readonly #options: AppenderOptions;

  constructor(options: AppenderOptions) {
    this.#options = options;
  }

  /**
   * Takes over the bytes of the batch. Rejects with `Fenced` if the batch is not in the log and never will be, and
   * with `OutcomeUnknown` if that could not be found out in time. `change` of the head comes with the batch.
   */
  async append(batch: Batch, known: LogHead, change: Partial<LogHead> = {}): Promise<Appended> {
    const { ids, clock, limits } = this.#options;
    const id = ids.uuid();
    const next = {
      ...known,
      ...change,
      index: batch.lastIndex,
      hash: batchHash(batch) ?? '',
      batch: id,
      nonce: id,
    };
    const untilMs = clock.monotonicMs() + limits.settleMs;
    const sending: Sending = { batch, id, known, next, nonces: [], untilMs };
    const stored = packed(batch, limits);
    const { byteLength } = stored.bytes;
    const parts = byteLength <= limits.valueBytes ? [] : pieces(stored.bytes, limits.valueBytes);
    if (parts.length > limits.partsMax) {
      throw new Fenced(`a batch of ${byteLength} bytes is too large for etcd`);
    }
    for (const [number, bytes] of parts.entries()) {
      const key = this.#options.keys.part(batch.firstIndex, id, number);
      await this.#putPart({ kind: 'put', key, value: bytes }, sending);
    }
    return this.#send(sending, stored, parts.length);
  }

  async #putPart(put: Operation, { known, untilMs }: Sending): Promise<void> {
    const { client, keys } = this.#options;
    const request = { compare: isTermOf(keys.head, known), success: [put] };
    for (;;) {
      try {
        const { succeeded } = await client.transact(request);
        if (!succeeded) throw new Fenced(`epoch ${known.epoch} has passed`);
        return;
      } catch (error) {
        // Readers ignore a part that no entry names.
        if (!isUnknown(error) || error instanceof Fenced) throw asFenced(error);
        if (!(await this.#mayRetry(untilMs))) throw asFenced(error);
      }
    }
  }

  async #send(sending: Sending, { bytes, packing }: Packed, parts: number): Promise<Appended> {
    const { client, keys } = this.#options;
    const { batch, id, known, next } = sending;
    const { firstIndex: first, lastIndex: last, previous = '', timeMs: time } = batch;
    const heading = { first, last, previous, hash: next.hash, time, batch: id, parts, packing };
    const entry = encodeEntry(heading, parts > 0 ? new Uint8Array() : bytes);
    let refusal: unknown;
    try {
      const answer = await client.transact({
        compare: [isHead(keys.head, known)],
        success: [
          { kind: 'put', key: keys.entry(first), value: entry },
          { kind: 'put', key: keys.head, value: encodeHead(next) },
        ],
        failure: this.#reads(sending),
      });
      return answer.succeeded ? { head: next, isHead: true } : this.#outcomeOf(answer, sending);
    } catch (error) {
      if (error instanceof StateError) throw error;
      if (!isUnknown(error)) refusal = error;
    } finally {
      release(entry);
      release(batch.bytes);
      if (bytes !== batch.bytes) release(bytes);
    }
    return this.#settleSending(sending, refusal);
  }

  async #settleSending(sending: Sending, refusal: unknown): Promise<Appended> {
    const { client, keys, ids } = this.#options;
    const { known, nonces, untilMs } = sending;
    for (;;) {
      const nonce = ids.uuid();
      nonces.push(nonce);
      try {
        const answer = await client.transact({
          compare: [isHead(keys.head, known)],
          success: [{ kind: 'put', key: keys.head, value: encodeHead({ ...known, nonce }) }],
          failure: this.#reads(sending),
        });
        if (answer.succeeded) {
          throw asFenced(
            refusal ?? new Error('etcd did not answer, and the batch is not in the log'),
          );
        }
        return this.#outcomeOf(answer, sending);
      } catch (error) {
        if (error instanceof StateError) throw error;
        // Etcd takes no writes at all, so nothing can move the head any more.
        if (refusal !== undefined && !isUnknown(error)) return this.#readOutcome(sending, refusal);
        if (!(await this.#mayRetry(untilMs))) throw new OutcomeUnknown(error);
      }
    }
  }

  /** The outcome of an append after etcd refused it and also refused the write of a nonce. */
  async #readOutcome(sending: Sending, refusal: unknown): Promise<Appended> {
    const { client, keys } = this.#options;
    let answer: TxnAnswer;
    try {
      answer = await client.transact({
        compare: [isHead(keys.head, sending.known)],
        success: [],
        failure: this.#reads(sending),
      });
    } catch (error) {
      throw new OutcomeUnknown(error);
    }
    if (answer.succeeded) throw asFenced(refusal);
    return this.#outcomeOf(answer, sending);
  }

  #reads({ batch }: Sending): readonly Operation[] {
    const { keys } = this.#options;
    return [
      { kind: 'range', range: { key: keys.head } },
      { kind: 'range', range: { key: keys.entry(batch.firstIndex) } },
    ];
  }

  /** The outcome of the batch, by a revision at which the head is no longer the known head. */
  #outcomeOf({ ranges }: TxnAnswer, { batch, id, known, next, nonces }: Sending): Appended {
    const [head, entry] = ranges.map(([keyValue]) => keyValue);
    const found = head && decodeHead(head.value, head.key);
    if (found === undefined) throw new Fenced('the log has no head');
    const isThere = entry !== undefined && decodeEntry(entry.value, entry.key).batch === id;
    if (found.batch === id || isThere) {
      return { head: next, isHead: found.batch === id && found.nonce === next.nonce };
    }
    if (nonces.includes(found.nonce)) throw new Fenced('the batch is not in the log');
    const isCovered = found.cluster === known.cluster && found.index >= batch.firstIndex;
    // A snapshot has taken the place of the entry, whoever wrote it.
    if (isCovered && entry === undefined) throw new OutcomeUnknown();
    throw new Fenced(`epoch ${known.epoch} has passed: the server ${found.server} leads`);
  }

  async #mayRetry(untilMs: number): Promise<boolean> {
    const { clock, timers, limits } = this.#options;
    if (clock.monotonicMs() >= untilMs) return false;
    await delay(timers, limits.retryMs);
    return true;
  }
}

function asFenced(error: unknown): Fenced {
  if (error instanceof Fenced) return error;
  return new Fenced(error instanceof Error ? error.message : String(error), error);
}

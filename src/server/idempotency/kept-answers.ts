import type { World } from '../../base/ports.ts';
import type { SecretBox } from '../../base/secret-box.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { NotLeading } from '../../state/errors.ts';
import { keptAnswers } from '../../state/tables.ts';
import type { State, Transaction } from '../../state/types.ts';
import { makeRoom } from '../expiring-rows.ts';
import { AlreadyRun, LedBefore, RequestScope, type ScopedWrites } from './request-scope.ts';

/** A write with an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly accessor: string;
  readonly route: string;
  readonly key: string;
  /** Path, query and body. */
  readonly content: string;
  /** Running it ends the term: the next leader answers. */
  readonly endsTerm?: boolean;
}

export interface WriteAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface KeptAnswersOptions {
  readonly state: State;
  readonly writes: ScopedWrites;
  readonly world: Pick<World, 'clock' | 'timers'>;
  readonly box: SecretBox;
}

type Running = { readonly content: string; readonly answer: Promise<WriteAnswer> };

/**
 * Runs a write once, however often its request is sent.
 *
 * Invariants
 *  I1. The first transaction of a request that changes something keeps in itself that the request was run.
 *      A transaction of the same key after it does not run. So there is one effect or none, whatever is lost.
 *  I2. Its answer becomes durable in the same batch, unless the handler does something else in between:
 *      then after it. An answer is given only when it is durable.
 *  I3. A refusal is not kept: the request had no effect, and is tried again.
 *  I4. A request that ends the term is noted before that (`noteRun`). Its answer is written by the next leader, to which
 *      the request is handed on, since this server can write none.
 *  I5. The body is sealed. The key belongs to its caller and its route, and stands for one content.
 */
export class KeptAnswers {
  readonly #options: KeptAnswersOptions;
  readonly #running = new Map<string, Running>();

  constructor(options: KeptAnswersOptions) {
    this.#options = options;
  }

  /**
   * The kept answer, if the request was run before.
   * @throws RosterError `idempotency-key-reused`, `answer-not-kept`
   */
  find({ accessor, route, key, content, endsTerm }: KeyedRequest): WriteAnswer | undefined {
    const { state, box, world } = this.#options;
    const kept = state.read().table(keptAnswers).get(accessor, route, key);
    if (kept === undefined || kept.ExpireMs <= world.clock.nowMs()) return undefined;
    if (kept.Fingerprint !== box.fingerprint(content)) throw refusal('idempotency-key-reused');
    if (kept.Status === 0) {
      if (endsTerm) return undefined;
      throw refusal('answer-not-kept');
    }
    const body = kept.Sealed === '' ? undefined : box.open(kept.Sealed);
    return { status: kept.Status, headers: kept.Headers, body };
  }

  /** Runs the request, unless it was run or is being run. */
  once(request: KeyedRequest, run: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
    const { accessor, route, key, content } = request;
    const name = [accessor, route, key].join('\0');
    const running = this.#running.get(name);
    if (running !== undefined) {
      if (running.content === content) return running.answer;
      throw refusal('idempotency-key-reused');
    }
    const kept = this.find(request);
    if (kept !== undefined) return Promise.resolve(kept);
    const answer = this.#run(request, run).finally(() => this.#running.delete(name));
    this.#running.set(name, { content, answer });
    return answer;
  }

  /**
   * Notes that the request under way is run, before an effect that no transaction has. Resolves, once that is durable,
   * with whether it had been noted before; `check` refuses a request that had not. A request without a key is not noted.
   */
  async noteRun(check: () => void): Promise<boolean> {
    const { writes, state } = this.#options;
    if (writes.scope !== undefined) return writes.scope.noteRun(state, check);
    check();
    return false;
  }

  async #run(request: KeyedRequest, run: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
    const { writes, world, state } = this.#options;
    const scope = new RequestScope(world.timers, {
      isRun: (transaction) => this.#isRun(transaction, request),
      note: (transaction) => this.#putAnswer(transaction, request, unknownAnswer),
    });
    try {
      const answer = await writes.within(scope, run);
      if (scope.hasNoted) {
        const keep = (transaction: Transaction) => this.#putAnswer(transaction, request, answer);
        if (scope.isOpen) scope.add(state.begin(keep));
        else await state.write(keep);
      }
      await scope.end();
      return answer;
    } catch (error) {
      await scope.end();
      if (error instanceof NotLeading && scope.hasNoted) throw new LedBefore(error);
      const kept = error instanceof AlreadyRun ? this.find(request) : undefined;
      if (kept === undefined) throw error;
      return kept;
    }
  }

  #isRun(transaction: Transaction, { accessor, route, key }: KeyedRequest): boolean {
    const kept = transaction.table(keptAnswers).get(accessor, route, key);
    return kept !== undefined && kept.ExpireMs > this.#options.world.clock.nowMs();
  }

  #putAnswer(transaction: Transaction, request: KeyedRequest, answer: WriteAnswer): void {
    const { box, world } = this.#options;
    const { keptMs, bodyBytesMax } = limits.idempotency;
    const nowMs = world.clock.nowMs();
    const { status, headers, body = '' } = answer;
    const isKept = Buffer.byteLength(body) <= bodyBytesMax;
    const { answersMax: rowsMax, removedAtOnceMax: removedMax } = limits.idempotency;
    makeRoom(transaction, keptAnswers, { nowMs, rowsMax, removedMax });
    transaction.table(keptAnswers).put({
      Accessor: request.accessor,
      Route: request.route,
      Key: request.key,
      Fingerprint: box.fingerprint(request.content),
      Status: isKept ? status : 0,
      Headers: isKept ? headers : {},
      Sealed: isKept && body !== '' ? box.seal(body) : '',
      ExpireMs: nowMs + keptMs,
    });
  }
}

const unknownAnswer: WriteAnswer = { status: 0, headers: {}, body: undefined };

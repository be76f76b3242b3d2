import { AsyncLocalStorage } from 'node:async_hooks';
import type { Timer, Timers } from '../../base/ports.ts';
import { NotLeading } from '../../state/errors.ts';
import type { Begun, State, Transaction, Written } from '../../state/types.ts';

/** The request was run before. */
export class AlreadyRun extends Error {
  override readonly name = 'AlreadyRun';
}

/** This server has durably noted that it runs the request, and leads no longer: the next leader knows the request. */
export class LedBefore extends NotLeading {}

interface Notes {
  /** Whether the request was run before. */
  readonly isRun: (transaction: Transaction) => boolean;
  /** Notes in the transaction that the request was run. */
  readonly note: (transaction: Transaction) => void;
}

/**
 * The first write of a request with an `Idempotency-Key`, until its answer is known.
 *
 * Invariants
 *  S1. While it is open, the first write tells its value before it is durable, and nothing is sent to the
 *      log. So the answer, which follows in the same turn, goes along in one batch.
 *  S2. It closes with the turn of the event loop, and before the second write, which is an ordinary one:
 *      it resolves when both are durable (`whenDurable`).
 *  S3. So a loop that the first write wakes writes nothing in the name of the request.
 */
export class RequestScope {
  readonly #timers: Timers;
  readonly #notes: Notes;
  readonly #begun: Begun<unknown>[] = [];
  #isOpen = true;
  #hasNoted = false;
  #late: Timer | undefined;

  constructor(timers: Timers, notes: Notes) {
    this.#timers = timers;
    this.#notes = notes;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the request has run a transaction that is not durable yet, and reads its own write. */
  get isAhead(): boolean {
    return this.#isOpen && this.#begun.length > 0;
  }

  /** Whether a transaction has changed something, and noted that the request was run. */
  get hasNoted(): boolean {
    return this.#hasNoted;
  }

  /** Runs a transaction of the request. */
  async write<T>(state: State, run: (transaction: Transaction) => T): Promise<Written<T>> {
    if (this.#begun.length > 0) {
      this.#close();
      return state.write(run);
    }
    const begun = state.begin((transaction) => this.#runNoted(transaction, run));
    if (begun.written === undefined) {
      this.#close();
      await begun.durable;
      throw new Error('a transaction that threw is durable');
    }
    this.add(begun);
    return begun.written;
  }

  /** As `KeptAnswers.noteRun`. */
  async noteRun(state: State, check: () => void): Promise<boolean> {
    this.#close();
    const { value } = await state.write((transaction) => {
      if (this.#notes.isRun(transaction)) return true;
      check();
      this.#notes.note(transaction);
      return false;
    });
    this.#hasNoted = true;
    return value;
  }

  add(begun: Begun<unknown>): void {
    this.#begun.push(begun);
    // Told by `end`, or by the write that failed.
    begun.durable.catch(() => {});
    this.#late ??= this.#timers.soon(() => this.#close());
  }

  /** Resolves when all that was written is durable. Rejects with the reason if it is not. */
  async end(): Promise<void> {
    this.#close();
    for (const { durable } of this.#begun) await durable;
  }

  #runNoted<T>(transaction: Transaction, run: (transaction: Transaction) => T): T {
    if (this.#notes.isRun(transaction)) throw new AlreadyRun();
    const value = run(transaction);
    if (transaction.hasChanged) {
      this.#notes.note(transaction);
      this.#hasNoted = true;
    }
    return value;
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#late?.clear();
    for (const { release } of this.#begun) release();
  }
}

/** Resolves when all that was written so far is durable, also within a request with a key. */
export async function whenDurable(state: Pick<State, 'write'>): Promise<void> {
  await state.write(() => {});
}

/** A state whose writes go by the scope of the request that they are made for. */
export class ScopedWrites {
  readonly state: State;
  readonly #current = new AsyncLocalStorage<RequestScope>();

  constructor(state: State) {
    const write: State['write'] = (run, options) => {
      const scope = this.#current.getStore();
      return scope?.isOpen === true ? scope.write(state, run) : state.write(run, options);
    };
    this.state = {
      clock: state.clock,
      read: () => (this.#current.getStore()?.isAhead === true ? state.head() : state.read()),
      head: () => state.head(),
      peek: (look) => state.peek(look),
      rehearse: () => state.rehearse(),
      saved: () => state.saved(),
      draft: () => state.draft(),
      restore: (restoring) => state.restore(restoring),
      onReplaced: (listen) => state.onReplaced(listen),
      track: () => state.track(),
      exact: () => state.exact(),
      write,
      begin: (run) => state.begin(run),
      watch: (footprint, wake) => state.watch(footprint, wake),
      onCommit: (listen) => state.onCommit(listen),
      onRan: (listen) => state.onRan(listen),
      onLeadership: (listen) => state.onLeadership(listen),
      get leading() {
        return state.leading;
      },
      get isFull() {
        return state.isFull;
      },
      get figures() {
        return state.figures;
      },
      get closed() {
        return state.closed;
      },
      stepDown: (isForGood, successor) => state.stepDown(isForGood, successor),
      get candidate() {
        return state.candidate;
      },
      close: () => state.close(),
    };
  }

  /** Of the request under way; `undefined`: it has no key. */
  get scope(): RequestScope | undefined {
    return this.#current.getStore();
  }

  /** Runs the function with its writes in the scope. */
  within<T>(scope: RequestScope, run: () => Promise<T>): Promise<T> {
    return this.#current.run(scope, run);
  }
}

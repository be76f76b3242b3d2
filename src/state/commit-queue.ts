import { encodeBatch } from './codec.ts';
import type { Engine } from './engine/engine.ts';
import { WriteQueueFull, WritesClosed } from './errors.ts';
import type { Head, Ran } from './head.ts';
import type { StateLimits } from './limits.ts';
import type { View } from './view.ts';

/** Who waits until something is durable. Exactly one of the two is called, once. */
export interface Waiter {
  settle(): void;
  fail(error: WritesClosed): void;
}

/** Transactions that become durable together. */
interface Group {
  readonly transactions: Ran[];
  readonly waiters: Waiter[];
  /** Characters of the encoded transactions. */
  size: number;
}

interface SealedGroup extends Group {
  /** The state after the last of them. */
  readonly view: View;
}

/** What became durable. */
export interface Committed {
  readonly view: View;
  readonly transactions: readonly Ran[];
  readonly waiters: readonly Waiter[];
  readonly bytes: number;
}

/**
 * Takes what ran on the head to the engine: group commit.
 *
 * Invariants
 *  Q1. One append is under way at most; what comes meanwhile waits and goes together.
 *  Q2. Transactions of one turn of the event loop, while idle, are one batch (up to its size).
 *  Q3. Waiters settle in the order in which they came, each after all that it could have read.
 *  Q4. After a failed append nothing settles any more, and nothing is appended.
 */
export class CommitQueue {
  readonly #engine: Engine;
  readonly #head: Head;
  readonly #limits: StateLimits;
  readonly #committed: (committed: Committed) => void;
  #open: Group = emptyGroup();
  #sealed: SealedGroup[] = [];
  #flying: SealedGroup | undefined;
  #flushSoon = false;
  #writes = 0;
  #size = 0;
  #closed: WritesClosed | undefined;
  #idle: (() => void)[] = [];

  constructor(
    engine: Engine,
    head: Head,
    limits: StateLimits,
    committed: (committed: Committed) => void,
  ) {
    this.#engine = engine;
    this.#head = head;
    this.#limits = limits;
    this.#committed = committed;
  }

  /** Why nothing more may run, if so. */
  get refusal(): WritesClosed | WriteQueueFull | undefined {
    if (this.#closed !== undefined) return this.#closed;
    const { waitingWrites, waitingBytes } = this.#limits;
    if (this.#writes < waitingWrites && this.#size < waitingBytes) return undefined;
    return new WriteQueueFull(this.#writes, this.#size);
  }

  get closed(): WritesClosed | undefined {
    return this.#closed;
  }

  /** Takes a transaction that just ran on the head. */
  add(ran: Ran, waiter: Waiter): void {
    const group = this.#open;
    group.transactions.push(ran);
    group.waiters.push(waiter);
    group.size += ran.text.length;
    this.#writes++;
    this.#size += ran.text.length;
    if (group.size >= this.#limits.batchBytes) this.#seal();
    if (this.#flying !== undefined || this.#flushSoon) return;
    this.#flushSoon = true;
    queueMicrotask(() => {
      this.#flushSoon = false;
      this.#flush();
    });
  }

  /** Settles the waiter when all that ran so far is durable. */
  observe(waiter: Waiter): void {
    const last =
      this.#open.transactions.length > 0 ? this.#open : (this.#sealed.at(-1) ?? this.#flying);
    if (last === undefined) waiter.settle();
    else last.waiters.push(waiter);
  }

  /** Takes nothing more, and fails everything that waits. */
  fail(error: WritesClosed): void {
    if (this.#closed !== undefined && this.#writes === 0) return;
    this.#closed ??= error;
    const lost = [this.#flying, ...this.#sealed, this.#open];
    this.#flying = undefined;
    this.#sealed = [];
    this.#open = emptyGroup();
    this.#writes = 0;
    this.#size = 0;
    for (const group of lost) for (const waiter of group?.waiters ?? []) waiter.fail(error);
    this.#tellIdle();
  }

  /** Takes nothing more. Resolves when everything that waits is durable, or failed. */
  async close(reason: WritesClosed): Promise<void> {
    this.#closed ??= reason;
    if (this.#writes === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #seal(): void {
    this.#sealed.push({ ...this.#open, view: this.#head.view() });
    this.#open = emptyGroup();
  }

  #flush(): void {
    if (this.#flying !== undefined) return;
    if (this.#sealed.length === 0 && this.#open.transactions.length > 0) this.#seal();
    const group = this.#sealed.shift();
    if (group === undefined) this.#tellIdle();
    else {
      this.#flying = group;
      void this.#append(group);
    }
  }

  async #append(group: SealedGroup): Promise<void> {
    const firstIndex = group.transactions[0]!.index;
    const bytes = encodeBatch(group.transactions);
    const length = bytes.byteLength;
    try {
      const batch = { firstIndex, lastIndex: group.view.index, bytes };
      await this.#engine.append(batch, firstIndex - 1, this.#engine.leadership.epoch);
    } catch (error) {
      if (this.#flying === group) this.fail(new WritesClosed(messageOf(error), error));
      return;
    }
    if (this.#flying !== group) return;
    this.#flying = undefined;
    this.#writes -= group.transactions.length;
    this.#size -= group.size;
    // First the next append, so that the engine works while this thread tells everyone.
    this.#flush();
    this.#committed({ ...group, bytes: length });
  }

  #tellIdle(): void {
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }
}

function emptyGroup(): Group {
  return { transactions: [], waiters: [], size: 0 };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

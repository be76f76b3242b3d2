import type { CommitQueue, Waiter } from './commit-queue.ts';
import type { Head, Ran } from './head.ts';
import type { Begun, Transaction, WriteOptions, Written } from './types.ts';

/** Where the transactions of a term run. */
export interface Running {
  readonly head: Head;
  readonly queue: CommitQueue;
  /** Tells the followers of the head what ran. */
  readonly tell: (ran: Ran) => void;
  /** Has the log show that the term is not over; `undefined`: it lasts as long as the process. */
  readonly stillLeads: () => Promise<void> | undefined;
}

/** Runs a transaction. Resolves when all that it could have read is durable, and rejects with what it throws. */
export function runWrite<T>(
  running: Running,
  run: (transaction: Transaction) => T,
  { lingers, isOfTerm }: WriteOptions = {},
): Promise<Written<T>> {
  const { head, queue, tell } = running;
  const { refusal } = queue;
  if (refusal !== undefined) return Promise.reject(refusal);
  return new Promise((resolve, fail) => {
    let settle: () => void;
    try {
      const { value, ran } = head.run(run);
      const { index } = head;
      settle = () => resolve({ index, value });
      if (ran !== undefined) tell(ran);
      if (ran !== undefined) return queue.add(ran, { settle, fail }, lingers);
      if (!isOfTerm) settle = whileLeading(running, { settle, fail });
    } catch (error) {
      // The error may rest on transactions that never become durable: then their failure is the answer.
      settle = () => fail(error);
    }
    queue.observe({ settle, fail });
  });
}

/** Runs a transaction that is held back until its release. */
export function beginWrite<T>(running: Running, run: (transaction: Transaction) => T): Begun<T> {
  const { head, queue, tell } = running;
  if (queue.refusal !== undefined) throw queue.refusal;
  const { promise: durable, resolve: settle, reject: fail } = Promise.withResolvers<void>();
  const release = () => {};
  let result: { readonly value: T; readonly ran: Ran | undefined };
  try {
    result = head.run(run);
  } catch (error) {
    queue.observe({ settle: () => fail(error), fail });
    return { written: undefined, durable, release };
  }
  const { value, ran } = result;
  const written = { index: head.index, value };
  if (ran === undefined) {
    queue.observe({ settle: whileLeading(running, { settle, fail }), fail });
    return { written, durable, release };
  }
  tell(ran);
  const held = { written, durable, release: queue.hold() };
  queue.add(ran, { settle, fail });
  return held;
}

/**
 * Settles a transaction that changed nothing. No append shows that it ran on the newest state, so the log is asked: another
 * process may lead by now, and this one may not have heard of it.
 */
function whileLeading({ stillLeads }: Running, { settle, fail }: Waiter): () => void {
  const shown = stillLeads();
  if (shown === undefined) return settle;
  // Heard below, once all that the transaction could have read is durable.
  shown.catch(() => {});
  return () => void shown.then(settle, fail);
}

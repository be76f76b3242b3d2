import type { CommitQueue } from './commit-queue.ts';
import { NotLeading, WritesClosed } from './errors.ts';
import type { Head } from './head.ts';
import type { State, Term } from './types.ts';

/** The head of the term, unless writes are closed. */
export const openHead = (leading: Leading | undefined): Head | undefined =>
  leading?.queue.closed === undefined ? leading?.head : undefined;

/** The term in which this process leads, with its head and its commit queue. */
export interface Leading {
  readonly term: Term;
  readonly head: Head;
  readonly queue: CommitQueue;
  /** Whether its last append failed, or may have. */
  isSuperseded: boolean;
}

/**
 * Resolves when the log has shown that no other process had written to it before the call; `undefined`: none can have.
 * Rejects with `NotLeading` if another process has, or the log cannot be asked.
 */
export function stillLeads(
  state: Pick<State, 'exact' | 'leading'>,
  term: Term,
): Promise<void> | undefined {
  return state.exact()?.then(
    () => {
      if (state.leading !== term) throw new NotLeading();
    },
    (error) => {
      throw error instanceof WritesClosed ? error : new NotLeading(error);
    },
  );
}

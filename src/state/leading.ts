import type { CommitQueue } from './commit-queue.ts';
import type { Head } from './head.ts';
import type { Term } from './types.ts';

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

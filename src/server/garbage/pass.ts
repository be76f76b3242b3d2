import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import type { GarbageAges } from './rules.ts';

/** How a walk goes on after a row: to the next row, with a pause for the caller, or not at all. */
export type Look = 'on' | 'pause' | 'end';

/** The means of one collection. */
export interface Pass {
  readonly context: ServerContext;
  readonly ages: GarbageAges;
  /** Looks at rows in slices, and ends early if `look` says so. @throws when the server stops */
  walk<R>(rows: Iterable<R>, look: (row: R) => Look): AsyncGenerator<void, void>;
  write<T>(run: (transaction: Transaction) => T): Promise<T>;
}

import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import type { GarbageAges } from './rules.ts';

/** The means of one collection. */
export interface Pass {
  readonly context: ServerContext;
  readonly ages: GarbageAges;
  /**
   * Looks at rows in slices. `look` may ask for a pause for the caller, or for an early end.
   * @throws when the server stops
   */
  walk<R>(rows: Iterable<R>, look: (row: R) => 'on' | 'pause' | 'end'): AsyncGenerator<void, void>;
  write<T>(run: (transaction: Transaction) => T): Promise<T>;
}

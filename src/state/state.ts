import type { Clock, Timers } from '../base/ports.ts';
import { StateClock } from './clock.ts';
import type { Engine } from './engine/engine.ts';
import { deepFreeze } from './freeze.ts';
import { type StateLimits, stateLimits } from './limits.ts';
import { loadAll } from './load.ts';
import { Replica } from './replica.ts';
import { Snapshots } from './snapshots.ts';
import { Store } from './store.ts';
import type { AnyDefinition } from './table.ts';
import type { State } from './types.ts';
import { emptyTables } from './view.ts';

export interface StateOptions {
  /** All tables. A store that holds another table is refused. */
  readonly tables: readonly AnyDefinition[];
  readonly engine: Engine;
  readonly timers: Timers;
  /** Gives batches their time, where several processes hold the log. The default: they have none. */
  readonly clock?: Clock;
  /** Freeze every row and assert that it is plain data. For tests and development. */
  readonly freeze?: boolean;
  readonly limits?: Partial<StateLimits>;
  /** Takes the errors that no caller gets, such as that of a failed snapshot. */
  readonly report?: (error: unknown) => void;
}

/**
 * Loads the state from its engine. Closes the engine and rejects with a `StateError` (`errors.ts`)
 * if the store cannot be used.
 */
export async function openState(options: StateOptions): Promise<State> {
  const { engine, freeze = false } = options;
  const limits = { ...stateLimits, ...options.limits };
  const ready = freeze ? deepFreeze : <R>(row: R) => row;
  const clock = engine.end && options.clock && new StateClock(options.clock);
  const newReplica = () =>
    new Replica(emptyTables(options.tables), limits.marksPerIndex, ready, clock);
  const replica = newReplica();
  try {
    const stored = await loadAll(engine, replica);
    const report = options.report ?? (() => {});
    const { timers } = options;
    const snapshots = new Snapshots({ engine, timers, limits, clock, report }, stored);
    if (replica.index > 0) snapshots.followed(0, replica);
    const rest = { limits, freeze, report, timers, clock, newReplica };
    return new Store(engine, replica, snapshots, rest);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

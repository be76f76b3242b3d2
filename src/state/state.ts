import type { Clock, Timers } from '../base/ports.ts';
import { StateClock } from './clock.ts';
import type { Engine } from './engine/engine.ts';
import { StateFormatUnknown } from './errors.ts';
import { type FormSource, formFault } from './form.ts';
import { deepFreeze } from './freeze.ts';
import { type StateLimits, stateLimits } from './limits.ts';
import { loadAll } from './load.ts';
import { Replica } from './replica.ts';
import { Snapshots } from './snapshots.ts';
import { Store } from './store.ts';
import type { AnyDefinition } from './table.ts';
import type { State } from './types.ts';
import { emptyTables, type View } from './view.ts';

export interface StateOptions {
  /** All tables. A store that holds another table is refused. */
  readonly tables: readonly AnyDefinition[];
  readonly engine: Engine;
  readonly timers: Timers;
  /** Gives batches their time, where several processes hold the log. The default: they have none. */
  readonly clock?: Clock;
  /**
   * Where the state says in which form it is written, if several processes hold the log. The default: it is
   * written in its newest form.
   */
  readonly form?: FormSource;
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
    const source = engine.end && options.form;
    requireForm(options, replica.view);
    const snapshots = new Snapshots({ engine, timers, limits, clock, source, report }, stored);
    if (replica.index > 0) snapshots.followed(0, replica);
    const rest = { limits, freeze, report, timers, clock, source, newReplica };
    return new Store(engine, replica, snapshots, rest);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** @throws StateFormatUnknown if the state is written in a form that this program does not know */
function requireForm({ form, tables }: StateOptions, view: View): void {
  const versions = form?.of(view);
  const fault = versions && formFault(versions, tables);
  if (fault !== undefined) throw new StateFormatUnknown(`the state cannot be held here: ${fault}`);
}

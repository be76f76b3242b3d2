import type { Clock, Timers } from '../base/ports.ts';
import { Timing } from '../base/timing.ts';
import { StateClock } from './clock.ts';
import type { Engine } from './engine/engine.ts';
import { StateFormatUnknown } from './errors.ts';
import { commitBounds } from './figures.ts';
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
  /** Measures commits. The default: nothing is measured. */
  readonly stopwatch?: Pick<Clock, 'monotonicMs'>;
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
  const newReplica = () => new Replica(emptyTables(options.tables), limits, ready, clock);
  try {
    const { replica, stored } = await loadAll(engine, newReplica);
    const report = options.report ?? (() => {});
    const { timers, stopwatch } = options;
    const source = engine.end && options.form;
    requireForm(options, replica.view);
    const snapshots = new Snapshots(
      { engine, timers, limits, clock, source, report, stopwatch },
      stored,
    );
    if (replica.index > 0) snapshots.followed(0, replica);
    const times = new Timing(commitBounds, options.stopwatch);
    const rest = { limits, freeze, report, timers, clock, times, source, newReplica };
    return new Store(engine, replica, snapshots, rest);
  } catch (error) {
    const told = error instanceof StateFormatUnknown ? await withWriter(engine, error) : error;
    await engine.close();
    throw told;
  }
}

/** Says who wrote a state that this program cannot read, and what to do. */
async function withWriter(engine: Engine, { message }: Error): Promise<StateFormatUnknown> {
  const writer = await engine.writtenBy?.().catch(() => undefined);
  const who = writer === undefined ? 'A later version of Roster' : `Roster ${writer}`;
  return new StateFormatUnknown(
    `${message}. ${who} wrote it: start that version, or a later one. To go back to this version, start it on an empty state and restore a snapshot that it saved`,
  );
}

/** @throws StateFormatUnknown if the state is written in a form that this program does not know */
function requireForm({ form, tables }: StateOptions, view: View): void {
  const versions = form?.of(view);
  const fault = versions && formFault(versions, tables);
  if (fault !== undefined) throw new StateFormatUnknown(`the state cannot be held here: ${fault}`);
}

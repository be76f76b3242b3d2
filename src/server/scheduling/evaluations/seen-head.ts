import { assert } from '../../../base/assert.ts';
import type {
  Snapshot,
  Stamps,
  State,
  TableDefinition,
  TableReader,
} from '../../../state/types.ts';

/**
 * The head as a decision sees it. After a view of the head, every index copies a path at its next change, and the
 * garbage collector moves these copies for as long as the view is kept. Most decisions end before anything can change, so
 * a view is made only when a decision pauses, or is to be kept.
 *
 * Invariants
 *  S1. Until `keep` it shows the head as it is. `keep` is called before the head changes, or else nobody reads it
 *      any more as the state at its index.
 */
export class SeenHead implements Pick<Snapshot, 'index' | 'table'> {
  readonly index: number;
  readonly #state: Pick<State, 'head' | 'peek'>;
  #view: Snapshot | undefined;

  constructor(state: Pick<State, 'head' | 'peek'>) {
    this.#state = state;
    this.index = state.peek(({ index }) => index);
  }

  table<R extends Stamps, I extends string>(definition: TableDefinition<R, I>): TableReader<R, I> {
    return this.#view === undefined
      ? this.#state.peek((now) => now.table(definition))
      : this.#view.table(definition);
  }

  /** Shows the present state from now on, whatever changes. */
  keep(): void {
    if (this.#view !== undefined) return;
    const view = this.#state.head();
    assert(view.index === this.index, 'the head is kept before it changes');
    this.#view = view;
  }
}

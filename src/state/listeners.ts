import type { RowChange } from './row-change.ts';
import type { Change } from './types.ts';
import { guarded } from './watches.ts';

export type Listener = (changes: readonly Change[], index: number) => void;

/** `text`: the durable form of a transaction that ran in this process. */
export type Follower = (changes: readonly Change[], index: number, text?: string) => void;

/** Functions that are called at each event. */
export class Listeners<A extends readonly unknown[]> {
  /** Replaced and never changed, so that those who are told stay the same during an event. */
  #all: readonly ((...told: A) => void)[] = [];

  /** Returns a function that unsubscribes. */
  add(listen: (...told: A) => void): () => void {
    // A function of its own, so that listening twice with one function is two listeners.
    const listener = (...told: A) => listen(...told);
    this.#all = [...this.#all, listener];
    return () => {
      this.#all = this.#all.filter((one) => one !== listener);
    };
  }

  get size(): number {
    return this.#all.length;
  }

  tell(...told: A): void {
    for (const listen of this.#all) guarded(listen, ...told);
  }
}

/** Tells the changes of a transaction. */
export function tellChanges(
  listeners: Listeners<Parameters<Follower>>,
  changes: readonly RowChange[],
  index: number,
  text?: string,
): void {
  if (listeners.size === 0) return;
  listeners.tell(toldChanges(changes), index, text);
}

export const toldChanges = (changes: readonly RowChange[]): Change[] =>
  changes.map(({ table, before, after }) => ({ table: table.definition.name, before, after }));

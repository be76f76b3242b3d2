import type { SharedQuery } from '../contract/shared-query.ts';
import { limits } from '../model/limits.ts';
import type { Change } from '../state/types.ts';
import type { Request } from './http.ts';
import { type KeptQuestion, KeptRows } from './kept-rows.ts';
import type { Walk } from './list-walk.ts';
import { measured } from './measured.ts';
import type { Memory } from './memory.ts';
import type { Following } from './route.ts';
import { directionOf } from './sort-order.ts';
import type { Turns } from './turns.ts';

interface Asked {
  readonly shared: SharedQuery;
  readonly request: Pick<Request, 'onGone' | 'follower'>;
}

/** The rows of watched lists, each for as long as its follower remembers. */
export class KeptLists {
  readonly #turns: Turns;
  readonly #byMemory = new Map<Memory, KeptRows>();

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Takes the changes of a transaction. */
  hear(changes: readonly Change[], index: number): void {
    for (const rows of this.#byMemory.values()) rows.hear(changes, index);
  }

  loseAll(): void {
    for (const rows of this.#byMemory.values()) rows.lose();
  }

  /** A page of a watched list; `undefined`: its rows are not kept. A promise if they are gathered first. */
  walkOf(
    options: KeptQuestion,
    asked: Asked,
  ): Walk | undefined | Promise<Walk | undefined | 'gone'> {
    const { follower } = asked.request;
    if (follower === undefined || !isWorthKeeping(options, asked)) return undefined;
    const follows = options.run.follows?.(options.input);
    if (follows === undefined) return undefined;
    const rows = this.#rowsOf(follower.memory, follows, asked.shared);
    const walk = () => (rows.isTooLong ? undefined : rows.walk(options, asked.shared));
    if (rows.isTooLong) return undefined;
    if (rows.isGathered(options)) {
      rows.settle(options);
      return walk();
    }
    if (this.#size > limits.list.keptRowsMax) return undefined;
    return this.#gatherRows(rows, options, asked, walk);
  }

  get #size(): number {
    let size = 0;
    for (const rows of this.#byMemory.values()) size += rows.size;
    return size;
  }

  #rowsOf(memory: Memory, follows: Following, { sort, reverse }: SharedQuery): KeptRows {
    const known = this.#byMemory.get(memory);
    if (known !== undefined) return known;
    const rows = new KeptRows(follows, { field: sort || undefined, reverse });
    this.#byMemory.set(memory, rows);
    memory.onEnd(() => this.#byMemory.delete(memory));
    return rows;
  }

  #gatherRows(
    rows: KeptRows,
    options: KeptQuestion,
    { request }: Asked,
    walk: () => Walk | undefined,
  ): Walk | undefined | Promise<Walk | undefined | 'gone'> {
    let isGone = false;
    const stay = request.onGone?.(() => {
      isGone = true;
    });
    const taken = this.#turns.through(measured(rows.gather(options), request), () => isGone);
    if (!(taken instanceof Promise)) {
      stay?.();
      return walk();
    }
    return taken.then((done) => (done === undefined ? 'gone' : walk())).finally(() => stay?.());
  }
}

/** A page that ends early without them is made as fast. A wrong order is refused by the walk. */
function isWorthKeeping(
  { run, perPage, filter, from }: KeptQuestion,
  { shared: { sort, reverse, total } }: Asked,
): boolean {
  if (perPage < 1) return false;
  if (!sort) return total || filter !== undefined;
  const isOfOrder = from === undefined || (from[0] === sort && from[1] === directionOf(reverse));
  return isOfOrder && run.sorts.includes(sort) && perPage <= limits.list.sortedPerPageMax;
}

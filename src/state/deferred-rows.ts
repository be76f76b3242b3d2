/** Changes in their order: the row that is put at a key of a group, or `undefined` for one that is deleted. */
interface Changes<R> {
  readonly groups: string[];
  readonly keys: string[];
  readonly rows: (R | undefined)[];
}

const noChanges = <R>(): Changes<R> => ({ groups: [], keys: [], rows: [] });

/**
 * Changes of the rows of an index that wait until somebody reads it. Made group by group, they cost a part of what they
 * would cost one by one, between views that share nodes.
 *
 * A clone shares the changes, and counts those that are its own. A clone that adds a change while there are more than its
 * own goes on with a copy.
 */
export class DeferredRows<R extends object> {
  #changes: Changes<R>;
  #count: number;

  constructor(changes = noChanges<R>(), count = 0) {
    this.#changes = changes;
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  clone(): DeferredRows<R> {
    return new DeferredRows(this.#changes, this.#count);
  }

  add(group: string, key: string, row: R | undefined): void {
    const count = this.#count++;
    if (this.#changes.rows.length !== count) {
      const { groups, keys, rows } = this.#changes;
      this.#changes = {
        groups: groups.slice(0, count),
        keys: keys.slice(0, count),
        rows: rows.slice(0, count),
      };
    }
    const { groups, keys, rows } = this.#changes;
    groups.push(group);
    keys.push(key);
    rows.push(row);
  }

  /** Calls `make` with each change: in their order, or group by group and those of a group in their order. */
  make(isGrouped: boolean, make: (group: string, key: string, row: R | undefined) => void): void {
    const { groups, keys, rows } = this.#changes;
    if (!isGrouped) {
      for (let at = 0; at < this.#count; at++) make(groups[at]!, keys[at]!, rows[at]);
      return;
    }
    const { first, next } = inGroups(groups, this.#count);
    for (const from of first) {
      for (let at = from; at >= 0; at = next[at]!) make(groups[at]!, keys[at]!, rows[at]);
    }
  }
}

/** The first position of each group, and for each position the next one of the same group; -1: there is none. */
function inGroups(groups: readonly string[], count: number) {
  const first: number[] = [];
  const last: number[] = [];
  const next = new Int32Array(count).fill(-1);
  const numbers = new Map<string, number>();
  let number = -1;
  for (let at = 0; at < count; at++) {
    const group = groups[at]!;
    // Neighbours often have the same one.
    if (number < 0 || group !== groups[at - 1]) number = numbers.get(group) ?? first.length;
    if (number === first.length) {
      numbers.set(group, number);
      first.push(at);
    } else next[last[number]!] = at;
    last[number] = at;
  }
  return { first, next };
}

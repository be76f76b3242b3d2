/** Changes in their order: whether a key is in its group after each. */
interface Changes {
  readonly groups: string[];
  readonly keys: string[];
  readonly isThere: boolean[];
}

const noChanges = (): Changes => ({ groups: [], keys: [], isThere: [] });

/**
 * Changes of the keys of an index that wait until somebody reads it. Made group by group, they cost a part of what they
 * would cost one by one, between views that share nodes.
 *
 * A clone shares the changes, and counts those that are its own. A clone that adds a change while there are more than its
 * own goes on with a copy.
 */
export class DeferredKeys {
  #changes: Changes;
  #count: number;

  constructor(changes = noChanges(), count = 0) {
    this.#changes = changes;
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  clone(): DeferredKeys {
    return new DeferredKeys(this.#changes, this.#count);
  }

  add(group: string, key: string, isThere: boolean): void {
    const count = this.#count++;
    if (this.#changes.keys.length !== count) {
      const { groups, keys, isThere: there } = this.#changes;
      this.#changes = {
        groups: groups.slice(0, count),
        keys: keys.slice(0, count),
        isThere: there.slice(0, count),
      };
    }
    this.#changes.groups.push(group);
    this.#changes.keys.push(key);
    this.#changes.isThere.push(isThere);
  }

  /** Calls `make` with each change: in their order, or group by group and those of a group in their order. */
  make(isGrouped: boolean, make: (group: string, key: string, isThere: boolean) => void): void {
    const { groups, keys, isThere } = this.#changes;
    if (!isGrouped) {
      for (let at = 0; at < this.#count; at++) make(groups[at]!, keys[at]!, isThere[at]!);
      return;
    }
    const { first, next } = inGroups(groups, this.#count);
    for (const from of first) {
      for (let at = from; at >= 0; at = next[at]!) make(groups[at]!, keys[at]!, isThere[at]!);
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

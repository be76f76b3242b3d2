/** A binary heap. `peek` and `pop` return the least item by `compare`. O(log n) push and pop. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: (left: T, right: T) => number;

  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let position = items.length;
    items.push(item);
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (this.#compare(items[parent]!, item) <= 0) break;
      items[position] = items[parent]!;
      position = parent;
    }
    items[position] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (items.length > 0) this.#sink(last!);
    return least;
  }

  /** Number of items that satisfy `matches`. O(n). */
  count(matches: (item: T) => boolean): number {
    return this.#items.reduce((total, item) => total + (matches(item) ? 1 : 0), 0);
  }

  #sink(item: T): void {
    const items = this.#items;
    let position = 0;
    for (;;) {
      let child = 2 * position + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#compare(items[child + 1]!, items[child]!) < 0) child++;
      if (this.#compare(item, items[child]!) <= 0) break;
      items[position] = items[child]!;
      position = child;
    }
    items[position] = item;
  }
}

import type { GroupSpan } from './grouped-keys.ts';
import { encodeKey, hasSameParts, terminator } from './keys.ts';
import type { Key } from './types.ts';

/** Rows in the order of their keys. `rows[i]` has the key `keys[i]`. */
export interface SortedRows<R> {
  readonly keys: string[];
  readonly rows: R[];
}

/** Puts rows with their keys in order. */
export function inOrder<R>({ keys, rows }: SortedRows<R>): SortedRows<R> {
  const order = orderOf(keys);
  return { keys: order.map((at) => keys[at]!), rows: order.map((at) => rows[at]!) };
}

/** So few texts lie close together in memory, and are simply sorted. */
const fewTexts = 512;

/**
 * The positions of texts in their order. Many texts are first divided by the characters after their
 * common beginning: comparing texts that lie far apart in memory costs much more than comparing
 * neighbours.
 */
export function orderOf(texts: readonly string[]): number[] {
  const all = texts.map((_, at) => at);
  const compare = (left: number, right: number) => compareText(texts[left]!, texts[right]!);
  if (texts.length <= fewTexts) return all.sort(compare);
  const begin = commonLength(texts);
  const parts = new Map<number, number[]>();
  for (const at of all) {
    const code = codeAt(texts[at]!, begin);
    const part = parts.get(code);
    if (part === undefined) parts.set(code, [at]);
    else part.push(at);
  }
  const order: number[] = [];
  for (const [, part] of [...parts].sort(([left], [right]) => left - right)) {
    for (const at of part.sort(compare)) order.push(at);
  }
  return order;
}

/** Length of the common beginning of all texts. */
function commonLength([first = '', ...others]: readonly string[]): number {
  let length = first.length;
  for (const text of others) {
    let same = 0;
    while (same < length && text.charCodeAt(same) === first.charCodeAt(same)) same++;
    length = same;
  }
  return length;
}

/** A number that orders like the next three characters. A shorter text comes first. */
function codeAt(text: string, begin: number): number {
  let code = 0;
  for (let at = begin; at < begin + 3; at++) {
    code = code * 0x10001 + (at < text.length ? text.charCodeAt(at) + 1 : 0);
  }
  return code;
}

/** The row with the greatest touch of each group, and that touch. */
interface Latest<R> {
  readonly touch: (row: R) => number;
  readonly rows: R[];
  readonly touches: number[];
}

/** Primary keys by group, and in a group in their order. */
export interface GroupsInOrder {
  readonly spans: readonly GroupSpan[];
  readonly keys: readonly string[];
}

/**
 * Sorts the rows of a secondary index by its parts, then by primary key. A group has the same parts.
 * Rows are noted in the order of their primary keys, so that only the groups have to be sorted.
 */
export class Gathering<R> {
  readonly #all: SortedRows<R>;
  readonly #partsOf: (row: R) => Key | undefined;
  /** Groups by name; absent while the groups came in their order. */
  #groups: Map<string, number> | undefined;
  readonly #names: string[] = [];
  readonly #sizes: number[] = [];
  readonly #latest: Latest<R>[] = [];
  /** Parts and group of the row that was noted last: the next row often has the same parts. */
  #lastParts: Key | undefined;
  #lastGroup = -1;
  /** The group of each row; -1 for a row that is not in the index. */
  readonly #groupOf: Int32Array;

  constructor(all: SortedRows<R>, partsOf: (row: R) => Key | undefined) {
    this.#all = all;
    this.#partsOf = partsOf;
    this.#groupOf = new Int32Array(all.rows.length);
  }

  /** From now on the row with the greatest touch of each group is kept. Returns a function that tells them, in no order. */
  latestBy(touch: (row: R) => number): () => readonly [group: string, row: R][] {
    const latest: Latest<R> = { touch, rows: [], touches: [] };
    this.#latest.push(latest);
    return () => latest.rows.map((row, group) => [textOf(this.#names[group]!), row]);
  }

  /** Notes the row at this position of all rows. */
  note(position: number): void {
    const row = this.#all.rows[position]!;
    const parts = this.#partsOf(row);
    const group = parts === undefined ? -1 : this.#groupWith(parts);
    this.#groupOf[position] = group;
    if (group < 0) return;
    this.#sizes[group]!++;
    for (const { touch, rows, touches } of this.#latest) {
      const touched = touch(row);
      if (group < rows.length && touched <= touches[group]!) continue;
      rows[group] = row;
      touches[group] = touched;
    }
  }

  #groupWith(parts: Key): number {
    if (this.#lastParts !== undefined && hasSameParts(parts, this.#lastParts))
      return this.#lastGroup;
    this.#lastParts = parts;
    this.#lastGroup = this.#groupNamed(nameOf(parts));
    return this.#lastGroup;
  }

  #groupNamed(name: string): number {
    const count = this.#names.length;
    if (this.#groups === undefined) {
      const last = this.#names[count - 1];
      if (last === name) return count - 1;
      if (last === undefined || last < name) return this.#beginGroup(name);
      this.#groups = new Map(this.#names.map((known, group) => [known, group]));
    }
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    this.#groups.set(name, count);
    return this.#beginGroup(name);
  }

  #beginGroup(name: string): number {
    this.#sizes.push(0);
    return this.#names.push(name) - 1;
  }

  /** The keys of the noted rows in order. */
  get sorted(): GroupsInOrder {
    const order = this.#groups === undefined ? [...this.#names.keys()] : orderOf(this.#names);
    const next = new Int32Array(this.#names.length);
    const spans: GroupSpan[] = [];
    let total = 0;
    for (const group of order) {
      next[group] = total;
      const count = this.#sizes[group]!;
      spans.push({ group: textOf(this.#names[group]!), from: total, count });
      total += count;
    }
    const keys = new Array<string>(total);
    for (let position = 0; position < this.#groupOf.length; position++) {
      const group = this.#groupOf[position]!;
      if (group < 0) continue;
      keys[next[group]!++] = this.#all.keys[position]!;
    }
    return { spans, keys };
  }
}

/** The name of a group. A single part needs no encoding. Names have the order of their texts. */
const nameOf = (parts: Key): string =>
  parts.length === 1 && parts[0] !== '' ? parts[0]! : encodeKey(parts);

const textOf = (name: string): string =>
  name === '' || name.endsWith(terminator) ? name : name + terminator;

function compareText(left: string, right: string): number {
  return left < right ? -1 : left === right ? 0 : 1;
}

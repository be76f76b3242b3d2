import { encodeKey } from './keys.ts';
import type { Key } from './types.ts';

/** Rows in the order of their keys; the two lists go together. */
export interface SortedRows<R> {
  readonly keys: string[];
  readonly rows: R[];
}

export function inOrder<R>(rowsByKey: ReadonlyMap<string, R>): SortedRows<R> {
  const keys = [...rowsByKey.keys()];
  const rows = [...rowsByKey.values()];
  const order = orderOf(keys);
  return { keys: order.map((at) => keys[at]!), rows: order.map((at) => rows[at]!) };
}

/** Where few enough texts are, they lie close together and are simply sorted. */
const fewTexts = 512;

/**
 * The positions of texts in their order. Many are parted by the characters that follow what all of
 * them begin with, as a comparison of two that lie far from each other in memory costs far more than
 * one of neighbours.
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

/** How many leading characters all of them share. */
function commonLength([first = '', ...others]: readonly string[]): number {
  let length = first.length;
  for (const text of others) {
    let same = 0;
    while (same < length && text.charCodeAt(same) === first.charCodeAt(same)) same++;
    length = same;
  }
  return length;
}

/** The next three characters as a number that orders as they do; what is shorter comes first. */
function codeAt(text: string, begin: number): number {
  let code = 0;
  for (let at = begin; at < begin + 3; at++) {
    code = code * 0x10001 + (at < text.length ? text.charCodeAt(at) + 1 : 0);
  }
  return code;
}

/**
 * Gathers the rows of a secondary index: by its parts and then by their primary key. Rows are noted
 * in the order of their primary keys, so that only the different parts have to be sorted.
 */
export class Gathering<R> {
  readonly #all: SortedRows<R>;
  readonly #partsOf: (row: R) => Key | undefined;
  readonly #groups = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #sizes: number[] = [];
  /** Of each row; -1: it is not in the index. */
  readonly #groupOf: Int32Array;

  constructor(all: SortedRows<R>, partsOf: (row: R) => Key | undefined) {
    this.#all = all;
    this.#partsOf = partsOf;
    this.#groupOf = new Int32Array(all.rows.length);
  }

  note(position: number): void {
    const parts = this.#partsOf(this.#all.rows[position]!);
    this.#groupOf[position] = parts === undefined ? -1 : this.#groupNamed(encodeKey(parts));
  }

  #groupNamed(text: string): number {
    const known = this.#groups.get(text);
    if (known !== undefined) {
      this.#sizes[known]!++;
      return known;
    }
    const group = this.#texts.push(text) - 1;
    this.#groups.set(text, group);
    this.#sizes.push(1);
    return group;
  }

  /** All that was noted. */
  get sorted(): SortedRows<R> {
    const order = orderOf(this.#texts);
    const next = new Int32Array(this.#texts.length);
    let count = 0;
    for (const group of order) {
      next[group] = count;
      count += this.#sizes[group]!;
    }
    const keys = new Array<string>(count);
    const rows = new Array<R>(count);
    for (let position = 0; position < this.#groupOf.length; position++) {
      const group = this.#groupOf[position]!;
      if (group < 0) continue;
      const at = next[group]!++;
      keys[at] = this.#texts[group]! + this.#all.keys[position]!;
      rows[at] = this.#all.rows[position]!;
    }
    // Where some rows have more parts than others, these lie between the others' primary keys.
    const isMixed = order.some((group, at) => {
      const following = order[at + 1];
      return following !== undefined && this.#texts[following]!.startsWith(this.#texts[group]!);
    });
    return isMixed ? inOrder(new Map(keys.map((key, at) => [key, rows[at]!]))) : { keys, rows };
  }
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left === right ? 0 : 1;
}

import type { Permission } from '../../model/permission/permission.ts';
import type { SearchContext } from '../../model/search/search.ts';

/** Something that may match, with the permission to list it. */
export interface Findable {
  readonly context: SearchContext;
  /** Texts of which only the beginning counts. */
  readonly ids?: readonly string[];
  /** Texts of which any part counts in a fuzzy search. */
  readonly names?: readonly string[];
  /** Its namespace, if it has one, and the parts of its address. */
  readonly scope: readonly string[];
  readonly permission: Permission;
}

export interface Hit {
  /** The text that matches. */
  readonly text: string;
  readonly scope: readonly string[];
  /** The smaller, the better. */
  readonly rank: number;
}

/** The best matches of a context. */
export class Hits {
  readonly #most: number;
  #hits: Hit[] = [];
  isTruncated = false;

  constructor(most: number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#hits.length > this.#most;
  }

  add(hit: Hit): void {
    this.#hits.push(hit);
    // Sorted now and then only: the best of many matches are found in time that grows with their number.
    if (this.#hits.length >= 2 * this.#most + keptBeside) this.#cutHits();
  }

  /** The best, in order. */
  list(): readonly Hit[] {
    this.#cutHits();
    return this.#hits;
  }

  #cutHits(): void {
    this.#hits.sort(compare);
    if (this.#hits.length > this.#most) this.isTruncated = true;
    this.#hits.length = Math.min(this.#hits.length, this.#most);
  }
}

// Not in limits: it changes how often is sorted, and no answer.
const keptBeside = 100;

function compare(left: Hit, right: Hit): number {
  if (left.rank !== right.rank) return left.rank - right.rank;
  if (left.text.length !== right.text.length) return left.text.length - right.text.length;
  const [one, other] = [keyOf(left), keyOf(right)];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

const keyOf = ({ text, scope }: Hit): string => [text, ...scope].join('\0');

/** A way to match texts. */
export type Match = (findable: Findable) => Omit<Hit, 'scope'> | undefined;

/** Case counts, as in the key ranges of the state. */
export const beginning =
  (prefix: string): Match =>
  ({ ids = [], names = [] }) => {
    for (const text of [...ids, ...names]) if (text.startsWith(prefix)) return { text, rank: 0 };
    return undefined;
  };

/** Case does not count. Names rank before ids, and an early place in a name before a late one. */
export function containing(part: string): Match {
  const wanted = part.toLowerCase();
  return ({ ids = [], names = [] }) => {
    let best: Omit<Hit, 'scope'> | undefined;
    for (const text of names) {
      const rank = text.toLowerCase().indexOf(wanted);
      if (rank >= 0 && (best === undefined || rank < best.rank)) best = { text, rank };
    }
    if (best !== undefined) return best;
    for (const text of ids) {
      if (text.toLowerCase().startsWith(wanted)) return { text, rank: Number.MAX_SAFE_INTEGER };
    }
    return undefined;
  };
}

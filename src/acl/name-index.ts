import { everyAccess, type Grant } from './grants.ts';
import { labelOf, nearness, type Pattern } from './pattern.ts';

/** All grants with one label, as one: they add up, and one denial outweighs them all. */
export interface Entry {
  readonly names: Pattern;
  /** Nothing when it is denied. */
  readonly holds: ReadonlySet<string>;
  readonly grants: readonly Grant[];
}

interface PrefixNode {
  readonly text: string;
  readonly entry: Entry;
  /** The longest other prefix that this one begins with. */
  readonly parent: PrefixNode | undefined;
}

export const holds = (entry: Entry, access: string): boolean =>
  entry.holds.has(access) || entry.holds.has(everyAccess);

/** Whether the rule denies; a rule that allows less than is asked does not. */
export const denies = ({ grants }: Entry): boolean =>
  grants.some((grant) => grant.holds === undefined);

const rememberedMax = 4096;

/**
 * Finds the label nearest to a name among thousands in about a microsecond.
 *
 * Invariants
 *  N1. An exact label beats every other one; of the others the one with most literal characters
 *      wins; globs that are equally near count as one label.
 *  N2. Prefixes are sorted. Whatever lies between a prefix of the name and the name begins with that
 *      prefix; so the longest prefix of a name is the greatest one not above it, or among that one's
 *      parents.
 *  N3. What is remembered is bounded (of globs by count, else by the words for access that there
 *      are), and forgetting it changes no answer.
 */
export class NameIndex {
  readonly entries: readonly Entry[];
  readonly #exact = new Map<string, Entry>();
  readonly #prefixes: PrefixNode[] = [];
  readonly #globs: Entry[] = [];
  readonly #remembered = new Map<string, Entry | null>();
  readonly #weakest = new Map<string, Entry | null>();

  constructor(grants: readonly Grant[]) {
    this.entries = merge(grants);
    const prefixes: Entry[] = [];
    for (const entry of this.entries) {
      const { kind, text } = entry.names;
      if (kind === 'exact') this.#exact.set(text, entry);
      else if (kind === 'prefix') prefixes.push(entry);
      else this.#globs.push(entry);
    }
    prefixes.sort((left, right) => (left.names.text < right.names.text ? -1 : 1));
    for (const entry of prefixes) {
      const { text } = entry.names;
      const parent = ancestorOf(this.#prefixes.at(-1), text);
      this.#prefixes.push({ text, entry, parent });
    }
  }

  find(name: string): Entry | undefined {
    const exact = this.#exact.get(name);
    if (exact !== undefined) return exact;
    const prefix = this.#prefixes.length === 0 ? undefined : this.#longestPrefix(name);
    return this.#globs.length === 0 ? prefix : this.#nearestGlob(name, prefix);
  }

  /** The nearest entry that fits the name and every longer one. */
  covering(name: string): Entry | undefined {
    return this.#longestPrefix(name);
  }

  /**
   * An entry, of those about names that begin so, that does not hold the access. Entries that
   * nearer indexes leave nothing of do not count.
   */
  weakest(access: string, beginning: string, nearer: readonly NameIndex[]): Entry | undefined {
    const fails = (entry: Entry) => !holds(entry, access) && mayMeet(entry.names, beginning);
    if (nearer.length > 0) {
      const isLeft = ({ names }: Entry) => !nearer.some((index) => index.#hides(names));
      return this.entries.find((entry) => fails(entry) && isLeft(entry));
    }
    if (beginning !== '') return this.entries.find(fails);
    const known = this.#weakest.get(access);
    if (known !== undefined) return known ?? undefined;
    const found = this.entries.find(fails);
    this.#weakest.set(access, found ?? null);
    return found;
  }

  /** Whether every name that the pattern fits is decided here. */
  #hides({ kind, text }: Pattern): boolean {
    if (kind === 'exact') return this.find(text) !== undefined;
    const head = kind === 'glob' ? text.slice(0, text.indexOf('*')) : text;
    return this.covering(head) !== undefined;
  }

  #longestPrefix(name: string): Entry | undefined {
    const nodes = this.#prefixes;
    let low = 0;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (nodes[middle]!.text <= name) low = middle + 1;
      else high = middle;
    }
    return ancestorOf(nodes[low - 1], name)?.entry;
  }

  #nearestGlob(name: string, prefix: Entry | undefined): Entry | undefined {
    const known = this.#remembered.get(name);
    if (known !== undefined) return known ?? undefined;
    let best = prefix === undefined ? -1 : prefix.names.text.length;
    let nearest = prefix === undefined ? [] : [prefix];
    for (const entry of this.#globs) {
      const near = nearness(entry.names, name);
      if (near < 0 || near < best) continue;
      if (near > best) nearest = [];
      best = near;
      nearest.push(entry);
    }
    const found =
      nearest.length > 1 ? joined(nearest[0]!.names, nearest.flatMap(grantsIn)) : nearest[0];
    if (this.#remembered.size >= rememberedMax) this.#remembered.clear();
    this.#remembered.set(name, found ?? null);
    return found;
  }
}

/** Whether the pattern may fit a name that begins so, beyond fitting all of them. */
function mayMeet({ kind, text }: Pattern, beginning: string): boolean {
  if (kind !== 'glob') return text.startsWith(beginning);
  const head = text.slice(0, text.indexOf('*'));
  return head.startsWith(beginning) || beginning.startsWith(head);
}

const grantsIn = (entry: Entry): readonly Grant[] => entry.grants;

/** The node, or its nearest parent, that the name begins with. */
function ancestorOf(node: PrefixNode | undefined, name: string): PrefixNode | undefined {
  let at = node;
  while (at !== undefined && !name.startsWith(at.text)) at = at.parent;
  return at;
}

/** Grants with the same label become one entry. What follows gives way to what is written. */
function merge(grants: readonly Grant[]): Entry[] {
  const byLabel = new Map<string, Grant[]>();
  for (const grant of grants) {
    const label = labelOf(grant.names);
    const known = byLabel.get(label);
    if (known === undefined) byLabel.set(label, [grant]);
    else known.push(grant);
  }
  return [...byLabel.values()].map((same) => {
    const written = same.filter(({ derived }) => !derived);
    return joined(same[0]!.names, written.length > 0 ? written : same);
  });
}

function joined(names: Pattern, grants: readonly Grant[]): Entry {
  const all = grants.map((grant) => grant.holds);
  const isDenied = all.includes(undefined);
  return { names, holds: new Set(isDenied ? [] : all.flatMap((one) => one ?? [])), grants };
}

import { everyAccess, type Grant } from './grants.ts';
import { limits } from './limits.ts';
import { labelOf, nearness, type Pattern } from './pattern.ts';

/** All grants with the same label. Their accesses add up, and a single denial overrides them. */
export interface Entry {
  readonly names: Pattern;
  /** Empty when a grant denies. */
  readonly holds: ReadonlySet<string>;
  readonly grants: readonly Grant[];
}

interface PrefixNode {
  readonly text: string;
  readonly entry: Entry;
  /** The longest other prefix of this prefix. */
  readonly parent: PrefixNode | undefined;
}

export const holds = (entry: Entry, access: string): boolean =>
  entry.holds.has(access) || entry.holds.has(everyAccess);

/** Whether a rule denies. A rule that gives less than the question asks does not deny. */
export const denies = ({ grants }: Entry): boolean =>
  grants.some((grant) => grant.holds === undefined);

/**
 * Finds the nearest label of a name, among thousands of labels in about a microsecond.
 *
 * Invariants
 *  N1. An exact label is nearest; among the others, the label with the most literal characters is.
 *      Globs at the same distance count as one label.
 *  N2. Prefixes are sorted. Every text between a name and a prefix of it begins with that prefix.
 *      So the longest prefix of a name is the greatest prefix not above the name, or an ancestor of
 *      it.
 *  N3. The caches are bounded: lookups of globs by count, weakest entries by the number of access
 *      words. Clearing them changes no answer.
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

  /** The nearest entry that covers the name and every longer name. */
  covering(name: string): Entry | undefined {
    return this.#longestPrefix(name);
  }

  /**
   * An entry that does not hold the access for some name with this beginning. Entries that a nearer
   * index hides completely do not count.
   */
  weakest(access: string, beginning: string, nearer: readonly NameIndex[]): Entry | undefined {
    const fails = (entry: Entry) => !holds(entry, access) && mayMeet(entry.names, beginning);
    if (nearer.length > 0) {
      const isLeft = ({ names }: Entry) => !nearer.some((index) => index.#hidesPattern(names));
      return this.entries.find((entry) => fails(entry) && isLeft(entry));
    }
    if (beginning !== '') return this.entries.find(fails);
    const known = this.#weakest.get(access);
    if (known !== undefined) return known ?? undefined;
    const found = this.entries.find(fails);
    this.#weakest.set(access, found ?? null);
    return found;
  }

  /** Whether this index decides for every name of the pattern. */
  #hidesPattern({ kind, text }: Pattern): boolean {
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
    if (this.#remembered.size >= limits.globLookupsMax) this.#remembered.clear();
    this.#remembered.set(name, found ?? null);
    return found;
  }
}

/**
 * Whether the pattern may match a name with this beginning. Shorter prefixes match all such names, and
 * are left out.
 */
function mayMeet({ kind, text }: Pattern, beginning: string): boolean {
  if (kind !== 'glob') return text.startsWith(beginning);
  const head = text.slice(0, text.indexOf('*'));
  return head.startsWith(beginning) || beginning.startsWith(head);
}

const grantsIn = (entry: Entry): readonly Grant[] => entry.grants;

/** The node or its nearest ancestor whose text is a prefix of the name. */
function ancestorOf(node: PrefixNode | undefined, name: string): PrefixNode | undefined {
  let at = node;
  while (at !== undefined && !name.startsWith(at.text)) at = at.parent;
  return at;
}

/** Joins the grants of each label into one entry. Written grants override derived ones. */
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

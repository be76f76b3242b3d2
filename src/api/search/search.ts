import type { Steps } from '../../base/steps.ts';
import { limits } from '../../model/limits.ts';
import type { Permission } from '../../model/permission/permission.ts';
import type { SearchContext } from '../../model/search/search.ts';
import { Hits, type Match } from './found.ts';
import { type Asked, type Source, sources } from './sources.ts';

export interface Search extends Asked {
  readonly contexts: readonly SearchContext[];
  readonly match: Match;
  /** Matches of each context. */
  readonly most: number;
  readonly allows: (permission: Permission) => boolean;
  /** Whether access control is on. */
  readonly isControlled: boolean;
}

/**
 * Matches by context, only those that the caller may list.
 *
 * Invariants
 *  S1. A search for a beginning reads the key ranges with that beginning, and no more than the answer holds.
 *  S2. It looks at `limits.search.rowsMax` rows of a noun at most, and says that the answer is cut off there.
 */
export function* search(asked: Search): Steps<ReadonlyMap<SearchContext, Hits>> {
  const found = new Map(asked.contexts.map((context) => [context, new Hits(asked.most)]));
  for (const source of sources) {
    if (source.isOfAccessControl && !asked.isControlled) continue;
    if (source.contexts.some((context) => found.has(context)))
      yield* searchIn(source, asked, found);
  }
  return found;
}

function* searchIn(
  { contexts, rows, of }: Source,
  asked: Search,
  found: ReadonlyMap<SearchContext, Hits>,
): Steps<void> {
  const own = contexts.flatMap((context) => found.get(context) ?? []);
  let looked = 0;
  for (const row of rows(asked)) {
    if (++looked > limits.search.rowsMax) {
      for (const hits of own) hits.isTruncated = true;
      return;
    }
    if (looked % rowsPerStep === 0) yield;
    for (const findable of of(row as never, asked)) {
      const hits = found.get(findable.context);
      const hit = hits && asked.match(findable);
      if (hit === undefined || !asked.allows(findable.permission)) continue;
      hits!.add({ ...hit, scope: findable.scope });
    }
    // The order of the keys is the order of the answer.
    if (asked.prefix !== undefined && own.every(({ isFull }) => isFull)) return;
  }
}

/** Not in limits: it changes no answer. */
const rowsPerStep = 64;

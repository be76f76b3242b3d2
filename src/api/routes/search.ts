import type { Clock } from '../../base/ports.ts';
import type { Steps } from '../../base/steps.ts';
import { searchEndpoints as contract } from '../../contract/search.ts';
import { invalid } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import {
  everyContext,
  fuzzyContexts,
  prefixContexts,
  type SearchContext,
} from '../../model/search/search.ts';
import type { BaseInput, Route } from '../route.ts';
import { beginning, containing, type Hits } from '../search/found.ts';
import { type Search, search } from '../search/search.ts';
import { serveSteps } from '../serve.ts';

const { textLengthMax, fuzzyTextLengthMin, matchesMax, fuzzyMatchesMax } = limits.search;

/** Source: docs/behaviour/search.md. */
export function searchRoutes(clock: Clock): Route[] {
  const asking = ({ namespace, partition, snapshot, allows, caller }: BaseInput) => ({
    namespace,
    partition,
    snapshot,
    allows,
    nowMs: clock.nowMs(),
    isControlled: caller.kind !== 'unrestricted',
  });
  return [
    ...serveSteps(contract.prefix, function* (input) {
      const { Prefix: prefix = '', Context } = input.body;
      check('Prefix', prefix, 0);
      const contexts = chosen(Context, prefixContexts);
      const match = beginning(prefix);
      const found = yield* of({ ...asking(input), prefix, contexts, match, most: matchesMax });
      return answerOf(found, ({ text }) => text);
    }),
    ...serveSteps(contract.fuzzy, function* (input) {
      const { Text: text = '', Context } = input.body;
      check('Text', text, fuzzyTextLengthMin);
      const contexts = chosen(Context, fuzzyContexts);
      const match = containing(text);
      const most = fuzzyMatchesMax;
      const found = yield* of({ ...asking(input), prefix: undefined, contexts, match, most });
      return answerOf(found, ({ text, scope }) => ({ ID: text, Scope: [...scope] }));
    }),
  ];
}

const of = (asked: Search): Steps<ReadonlyMap<SearchContext, Hits>> => search(asked);

function chosen<C extends SearchContext>(context: string | undefined, all: readonly C[]) {
  return context === undefined || context === everyContext ? all : [context as C];
}

/** @throws RosterError `invalid-body` */
function check(field: string, text: string, lengthMin: number): void {
  // NUL separates the parts of a key in the state.
  const fault =
    text.length < lengthMin
      ? `must have ${lengthMin} characters or more`
      : text.length > textLengthMax
        ? `must have ${textLengthMax} characters or fewer`
        : text.includes('\0')
          ? 'must not hold a NUL character'
          : undefined;
  if (fault === undefined) return;
  throw invalid('invalid-body', [{ pointer: `/${field}`, message: `${field} ${fault}` }]);
}

function answerOf<T>(
  found: ReadonlyMap<SearchContext, Hits>,
  shown: (hit: ReturnType<Hits['list']>[number]) => T,
) {
  const lists = [...found].map(([context, hits]) => [context, hits.list().map(shown)] as const);
  return {
    Matches: Object.fromEntries(lists),
    Truncations: Object.fromEntries(
      [...found].map(([context, { isTruncated }]) => [context, isTruncated]),
    ),
  };
}

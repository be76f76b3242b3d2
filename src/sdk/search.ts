import type { searchEndpoints } from '../contract/search.ts';
import type { FoundIds, FoundNames, SearchContext } from '../model/search/search.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

export type { FoundIds, FoundNames, SearchContext };

type PrefixContext = Exclude<SearchContext, 'groups' | 'tasks'>;

export type Search = ReturnType<typeof searchOf>;

export function searchOf(requester: Requester) {
  const { write } = callsOf<typeof searchEndpoints>(requester);
  return {
    /** Ids and names that begin with the text, by context; by default in all contexts. */
    prefix: (Prefix: string, Context: PrefixContext | 'all' = 'all', options?: CallOptions) =>
      write('POST /v1/search', {}, options, { body: { Prefix, Context } }),
    /** Names with the text in them, by context, the best first. */
    fuzzy: (Text: string, Context: SearchContext | 'all' = 'all', options?: CallOptions) =>
      write('POST /v1/search/fuzzy', {}, options, { body: { Text, Context } }),
  };
}

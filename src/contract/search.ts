import { open } from '../model/permission/permission.ts';
import { Choice, Text, Type } from '../model/schema.ts';
import {
  everyContext,
  FoundIdsSchema,
  FoundNamesSchema,
  fuzzyContexts,
  prefixContexts,
} from '../model/search/search.ts';
import { endpoints } from './endpoint.ts';
import { decided } from './needs.ts';

/** Each match is shown to those who may list it. */
const eachMatch = decided('nothing: each match is shown to whom it may be', () => open);

export const searchEndpoints = endpoints(
  { group: 'search', noun: 'search', family: 'scheduler' },
  {
    prefix: {
      kind: 'read',
      methods: ['POST', 'PUT'],
      path: '/v1/search',
      summary: 'Find what has an id or a name that begins with a text',
      body: {
        example: { Prefix: 'we', Context: 'jobs' },
        schema: Type.Object({
          Prefix: Text(),
          Context: Choice([everyContext, ...prefixContexts], everyContext),
        }),
        unknown: 'refuse',
      },
      answer: FoundIdsSchema,
      permission: eachMatch,
    },
    fuzzy: {
      kind: 'read',
      methods: ['POST', 'PUT'],
      path: '/v1/search/fuzzy',
      summary: 'Find what has a name with a text in it, jobs and what is in them included',
      body: {
        example: { Text: 'web', Context: 'all' },
        schema: Type.Object({
          Text: Text(),
          Context: Choice([everyContext, ...fuzzyContexts], everyContext),
        }),
        unknown: 'refuse',
      },
      answer: FoundNamesSchema,
      permission: eachMatch,
    },
  },
);

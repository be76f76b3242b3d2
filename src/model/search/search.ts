import { FullList, FullMapOf, type Model, Type } from '../schema.ts';

/** The nouns that can be searched by the beginning of their id or name. */
export const prefixContexts = [
  'allocs',
  'auth_methods',
  'config_entries',
  'deployment',
  'evals',
  'job_policies',
  'jobs',
  'namespaces',
  'node_pools',
  'nodes',
  'peerings',
  'policies',
  'roles',
  'services',
  'tokens',
  'vars',
] as const;

/** A fuzzy search looks into jobs as well. */
export const fuzzyContexts = [...prefixContexts, 'groups', 'tasks'] as const;

export type SearchContext = (typeof fuzzyContexts)[number];

export const everyContext = 'all';

/** Source: docs/behaviour/search.md#by-the-beginning. */
export const FoundIdsSchema = Type.Object({
  /** Ids by context. */
  Matches: FullMapOf(FullList(Type.String())),
  /** Whether there are more, by context. */
  Truncations: FullMapOf(Type.Boolean()),
});
export type FoundIds = Model<typeof FoundIdsSchema>;

/** Source: docs/behaviour/search.md#by-a-part. */
export const FoundNamesSchema = Type.Object({
  /** By context, the best first. */
  Matches: FullMapOf(
    FullList(
      Type.Object({
        /** The name in which the text is. */
        ID: Type.String(),
        /** Where the noun is: its namespace, if it has one, and the parts of its address. */
        Scope: FullList(Type.String()),
      }),
    ),
  ),
  Truncations: FullMapOf(Type.Boolean()),
});
export type FoundNames = Model<typeof FoundNamesSchema>;

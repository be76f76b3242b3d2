import { limits } from '../model/limits.ts';
import type { Definition, Endpoint } from './endpoint.ts';
import { flag, type QueryTable, text } from './query.ts';

/** Parameters of every endpoint. */
const everywhere = {
  pretty: flag('Indent the answer by four spaces.'),
  namespace: { kind: 'string', description: 'The namespace; `default` when absent.' },
  region: text('The region, which must be that of the server.'),
  dc: text('The datacenter, which must be that of the server.'),
} as const satisfies QueryTable;

/**
 * Namespace and partition of registry endpoints.
 * Source: docs/contract/access-control.md#namespace-and-partition.
 */
const place = {
  ns: { kind: 'string', description: 'The namespace; `*` on a list: all of them.' },
  partition: { kind: 'string', description: 'The partition.' },
} as const satisfies QueryTable;

/** Of all reads and lists. Source: docs/contract/http.md#consistency. */
export const consistency = {
  stale: flag('The server answers at once, from the state that it has.'),
  cached: flag('Accepted without effect: there are no cached copies.'),
  consistent: flag('As without it: the answer shows all that was durable when it was asked for.'),
  max_stale: {
    kind: 'duration',
    emptyIsAbsent: true,
    description:
      'With `stale`: a state that is older does not answer, but waits until it is exact.',
  },
} as const satisfies QueryTable;

/** Source: docs/contract/http.md#blocking-queries. */
const blocking = {
  index: {
    kind: 'index',
    default: 0,
    emptyIsAbsent: true,
    description: "Wait until the result's own index is greater than this.",
  },
  wait: {
    kind: 'duration',
    emptyIsAbsent: true,
    description: 'The longest wait: `30s`, `5m`.',
  },
} as const satisfies QueryTable;

/** Source: docs/contract/http.md#lists. */
const list = {
  filter: text('A filter expression over each record.', { lengthMax: limits.list.filterLengthMax }),
  per_page: {
    kind: 'integer',
    default: 0,
    maximum: limits.list.perPageMax,
    description: 'The greatest number of records; 0: all.',
  },
  next_token: text('The start of the page: the `NextToken` header of the previous page.', {
    lengthMax: limits.list.nextTokenLengthMax,
  }),
  reverse: flag('From the last record to the first.'),
  total: flag(
    'Count all records of the list, over all pages, in a header; absent if there are too many to count.',
  ),
} as const satisfies QueryTable;

const sorting = (fields: readonly string[]) =>
  ({
    sort: text(
      `The field by which records are sorted, with \`per_page\` from 1 to ${limits.list.sortedPerPageMax}: ${fields.map((field) => `\`${field}\``).join(', ')}.`,
    ),
  }) as const satisfies QueryTable;

const ofServer = {
  server_id: text(
    'The server that answers: its id, its address, or `leader`; by default the server that is asked.',
  ),
} as const satisfies QueryTable;

/** The shared parameters. If an endpoint does not take a parameter, it has its default. */
export type SharedQuery = {
  readonly pretty: boolean;
  readonly namespace: string | undefined;
  readonly ns: string | undefined;
  readonly partition: string | undefined;
  readonly region: string;
  readonly dc: string;
  readonly stale: boolean;
  readonly cached: boolean;
  readonly consistent: boolean;
  readonly index: number;
  readonly wait: number | undefined;
  readonly filter: string;
  readonly per_page: number;
  readonly next_token: string;
  readonly reverse: boolean;
  readonly total: boolean;
  /** Absent for lists that are not sorted. */
  readonly sort?: string;
  readonly server_id: string;
};

/** All parameters of an endpoint: the shared ones and its own. */
export function queryOf({
  kind,
  family,
  blocking: isBlocking,
  isOfServer,
  query,
  sorts,
}: Pick<Definition, 'kind' | 'blocking' | 'isOfServer' | 'query' | 'sorts'> &
  Pick<Endpoint, 'family'>): QueryTable {
  const reads = kind === 'read' || kind === 'list';
  return {
    ...everywhere,
    ...(family === 'registry' && place),
    ...(reads && consistency),
    ...(reads && isBlocking && blocking),
    ...(kind === 'list' && list),
    ...(sorts !== undefined && sorting(sorts)),
    ...(isOfServer && ofServer),
    ...query,
  };
}

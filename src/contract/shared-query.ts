import { limits } from '../model/limits.ts';
import type { Definition, Endpoint } from './endpoint.ts';
import type { QueryTable } from './query.ts';

/** Parameters of every endpoint. */
const everywhere = {
  pretty: { kind: 'boolean', default: false, description: 'Indent the answer by four spaces.' },
  namespace: { kind: 'string', description: 'The namespace; `default` when absent.' },
  region: {
    kind: 'string',
    default: '',
    description: 'The region, which must be that of the server.',
  },
  dc: {
    kind: 'string',
    default: '',
    description: 'The datacenter, which must be that of the server.',
  },
} as const satisfies QueryTable;

/** Place of a registry request. Source: docs/contract/access-control.md#namespace-and-partition. */
const place = {
  ns: { kind: 'string', description: 'The namespace; `*` on a list: all of them.' },
  partition: { kind: 'string', description: 'The partition.' },
} as const satisfies QueryTable;

/** docs/contract/http.md#consistency. */
const consistency = {
  stale: { kind: 'boolean', default: false, description: 'Any server may answer.' },
  cached: { kind: 'boolean', default: false, description: 'A copy would do: there are none here.' },
  consistent: {
    kind: 'boolean',
    default: false,
    description: 'The leader proves its leadership first.',
  },
  max_stale: {
    kind: 'duration',
    emptyIsAbsent: true,
    description: 'How old the answer may be: none here is older than its server.',
  },
} as const satisfies QueryTable;

/** docs/contract/http.md#blocking-queries. */
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
    description: 'How long to wait at most: `30s`, `5m`.',
  },
} as const satisfies QueryTable;

/** docs/contract/http.md#lists. */
const list = {
  filter: {
    kind: 'string',
    default: '',
    lengthMax: limits.list.filterLengthMax,
    description: 'A filter expression over each record.',
  },
  per_page: {
    kind: 'integer',
    default: 0,
    maximum: limits.list.perPageMax,
    description: 'Records in one answer at most; 0: all.',
  },
  next_token: {
    kind: 'string',
    default: '',
    lengthMax: limits.list.nextTokenLengthMax,
    description: 'Where the page begins: the `NextToken` header of the page before.',
  },
  reverse: { kind: 'boolean', default: false, description: 'From the last record to the first.' },
} as const satisfies QueryTable;

/** All that the shared mechanism reads; what an endpoint does not take has its default. */
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
};

/** The whole query of an endpoint: the shared parameters it takes and its own. */
export function queryOf({
  kind,
  family,
  blocking: isBlocking,
  query,
}: Pick<Definition, 'kind' | 'blocking' | 'query'> & Pick<Endpoint, 'family'>): QueryTable {
  const reads = kind === 'read' || kind === 'list';
  return {
    ...everywhere,
    ...(family === 'registry' && place),
    ...(reads && consistency),
    ...(reads && isBlocking && blocking),
    ...(kind === 'list' && list),
    ...query,
  };
}

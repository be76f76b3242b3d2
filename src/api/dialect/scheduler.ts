import { defaultNamespace, defaultPartition } from '../../model/namespace/namespace.ts';
import { secretBy } from '../token.ts';
import { checkedPlace, type Dialect, type PlaceOf, plainProblems } from './dialect.ts';

interface NamingBody {
  readonly Namespace?: string;
  readonly Job?: { readonly Namespace?: string };
}

/**
 * Query, body, the body's `Job.Namespace`, `default`, and never the token's.
 * Source: docs/contract/http.md#namespaces-partitions-and-regions.
 * @throws RosterError `namespace-not-found`
 */
const placeOf: PlaceOf = (query, given) => {
  const body = (given ?? {}) as NamingBody;
  const namespace = query.namespace || body.Namespace || body.Job?.Namespace || defaultNamespace;
  const place = checkedPlace({ namespace, partition: defaultPartition });
  return () => place;
};

/** Jobs and the rest of the scheduler; also what no route answers. */
export const schedulerDialect: Dialect = {
  name: 'scheduler',
  headers: {
    index: 'x-scheduler-index',
    knownLeader: 'x-scheduler-knownleader',
    lastContact: 'x-scheduler-lastcontact',
    nextToken: 'x-scheduler-nexttoken',
  },
  readHeaders: (index) => ({
    'content-type': 'application/json',
    'x-scheduler-index': index,
    'x-scheduler-knownleader': 'true',
    'x-scheduler-lastcontact': '0',
  }),
  secretIn: secretBy('x-registry-token', 'x-scheduler-token'),
  placeOf,
  ...plainProblems,
};

import { defaultNamespace, defaultPartition } from '../../model/namespace/namespace.ts';
import { secretBy } from '../token.ts';
import { checkedPlace, type Dialect, type PlaceOf, plainProblems } from './dialect.ts';

interface NamingBody {
  readonly Namespace?: string;
  readonly Job?: { readonly Namespace?: string };
}

/**
 * The namespace comes from the query, the body or the body's `Job`, in this order, else it is
 * `default`. The token has no influence.
 * Source: docs/contract/http.md#namespaces-partitions-and-regions.
 * @throws RosterError `namespace-not-found`
 */
const placeOf: PlaceOf = (query, given) => {
  if (given === undefined && !query.namespace) return byDefault;
  const body = (given ?? {}) as NamingBody;
  const namespace = query.namespace || body.Namespace || body.Job?.Namespace || defaultNamespace;
  const place = checkedPlace({ namespace, partition: defaultPartition });
  return () => place;
};

const defaultPlace = { namespace: defaultNamespace, partition: defaultPartition };
const byDefault = () => defaultPlace;

/** For jobs and all of scheduling, and for requests without a route. */
export const schedulerDialect: Dialect = {
  name: 'scheduler',
  headers: {
    index: 'x-scheduler-index',
    knownLeader: 'x-scheduler-knownleader',
    lastContact: 'x-scheduler-lastcontact',
    nextToken: 'x-scheduler-nexttoken',
    total: 'x-scheduler-total',
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

import { refusal } from '../../model/errors.ts';
import { defaultNamespace, defaultPartition } from '../../model/namespace/namespace.ts';
import { quote } from '../../model/path.ts';
import { header } from '../http.ts';
import { secretBy } from '../token.ts';
import { checkedPlace, type Dialect, type PlaceOf, plainProblems } from './dialect.ts';

interface NamingBody {
  readonly Namespace?: string;
  readonly Partition?: string;
}

/**
 * The namespace comes from the body, the query, the header or the token, in this order, else it is
 * `default`. If body and query name partitions, they have to be equal, because the API gives them
 * no order.
 * Source: docs/contract/access-control.md#namespace-and-partition.
 * @throws RosterError `namespace-not-found`, `partition-not-found`, `invalid-query`
 */
const placeOf: PlaceOf = (query, given, request) => {
  const body = (given ?? {}) as NamingBody;
  const inHeader = header(request, 'x-registry-namespace');
  const namespace = body.Namespace || query.ns || query.namespace || inHeader || '';
  const partition = partitionOf(body, query.partition);
  checkedPlace({ namespace, partition });
  return (caller) => {
    const own = caller.kind === 'token' ? caller : undefined;
    return {
      namespace: namespace || own?.namespace || defaultNamespace,
      partition: partition || own?.partition || defaultPartition,
    };
  };
};

function partitionOf(body: NamingBody, partition: string | undefined): string {
  if (!body.Partition || !partition || body.Partition === partition) {
    return body.Partition || partition || '';
  }
  const reason = `is ${quote(partition)}, and the Partition of the body ${quote(body.Partition)}: give one of them, or the same`;
  throw refusal('invalid-query', { parameter: 'partition', reason });
}

/** For access control, configuration and peering. */
export const registryDialect: Dialect = {
  name: 'registry',
  headers: {
    index: 'x-registry-index',
    knownLeader: 'x-registry-knownleader',
    lastContact: 'x-registry-lastcontact',
    nextToken: 'x-registry-nexttoken',
    total: 'x-registry-total',
    filteredByAcls: 'x-registry-results-filtered-by-acls',
    defaultPolicy: 'x-registry-default-acl-policy',
  },
  readHeaders: (index) => ({
    'content-type': 'application/json',
    'x-registry-index': index,
    'x-registry-knownleader': 'true',
    'x-registry-lastcontact': '0',
  }),
  secretIn: secretBy('x-registry-token', 'x-scheduler-token'),
  placeOf,
  ...plainProblems,
};

import type { Family } from '../contract/endpoint.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import { invalid, refusal } from '../model/errors.ts';
import { defaultNamespace, defaultPartition, type Scope } from '../model/namespace/namespace.ts';
import { below, faultAt, quote } from '../model/path.ts';
import type { Caller } from '../model/permission/caller.ts';
import type { Envelope } from './envelope.ts';
import { header, type Request } from './http.ts';

export interface Home {
  readonly region: string;
  readonly datacenter: string;
}

/**
 * One cluster is one region and one datacenter: what is meant for another one must not be done here.
 * @throws RosterError `invalid-query`
 */
export function requireHome(own: Home, { region, dc }: Pick<SharedQuery, 'region' | 'dc'>): void {
  if (isElsewhere(own.region, region)) {
    const reason = mustBe('region', own.region, region);
    throw refusal('invalid-query', { parameter: 'region', reason });
  }
  if (!dc || dc === own.datacenter) return;
  const reason = mustBe('datacenter', own.datacenter, dc);
  throw refusal('invalid-query', { parameter: 'dc', reason });
}

/** The same of the region in a body. @throws RosterError `invalid-body` */
export function requireRegion(own: string, { Region = '' }: Envelope): void {
  if (!isElsewhere(own, Region)) return;
  const message = mustBe('region', own, Region);
  throw invalid('invalid-body', [faultAt(below(null, 'Region'), message)]);
}

const isElsewhere = (own: string, region: string): boolean =>
  !!region && region !== own && region !== 'global';

const mustBe = (noun: string, own: string, found: string): string =>
  `must be ${quote(own)}, the ${noun} of this server, and is ${quote(found)}`;

/** Body or envelope. */
interface NamingBody {
  readonly Namespace?: string;
  readonly Partition?: string;
  readonly Job?: { readonly Namespace?: string };
}

/**
 * Where a request means to be. The scheduler's: query, body, the body's `Job.Namespace`, `default`,
 * and never the token's. Elsewhere: body, query, header, the token's own, `default`; of partitions
 * nothing says which of body and query wins, so they have to be the same.
 * Source: docs/contract/access-control.md#namespace-and-partition.
 * @throws RosterError `namespace-not-found`, `partition-not-found`, `invalid-query`
 */
export function placeOf(
  family: Family,
  query: Pick<SharedQuery, 'namespace' | 'ns' | 'partition'>,
  given: unknown,
  request: Request,
): (caller: Caller) => Scope {
  const body = (given ?? {}) as NamingBody;
  if (family === 'scheduler') {
    const namespace = query.namespace || body.Namespace || body.Job?.Namespace || defaultNamespace;
    const place = checked({ namespace, partition: defaultPartition });
    return () => place;
  }
  const inHeader = header(request, 'x-registry-namespace');
  const namespace = body.Namespace || query.ns || query.namespace || inHeader || '';
  const partition = partitionOf(body, query);
  checked({ namespace, partition });
  return (caller) => {
    const own = caller.kind === 'token' ? caller : undefined;
    return {
      namespace: namespace || own?.namespace || defaultNamespace,
      partition: partition || own?.partition || defaultPartition,
    };
  };
}

function partitionOf(body: NamingBody, { partition }: Pick<SharedQuery, 'partition'>): string {
  if (!body.Partition || !partition || body.Partition === partition) {
    return body.Partition || partition || '';
  }
  const reason = `is ${quote(partition)}, and the Partition of the body ${quote(body.Partition)}: give one of them, or the same`;
  throw refusal('invalid-query', { parameter: 'partition', reason });
}

/** Keys of the state are parts that end in NUL: none may hold one. */
function checked(place: Scope): Scope {
  const { namespace, partition } = place;
  if (namespace.includes('\0')) throw refusal('namespace-not-found', { namespace });
  if (partition.includes('\0')) throw refusal('partition-not-found', { partition });
  return place;
}

import type { SharedQuery } from '../contract/shared-query.ts';
import { invalid, refusal } from '../model/errors.ts';
import { below, faultAt, quote } from '../model/path.ts';
import type { Envelope } from './envelope.ts';

export interface Home {
  readonly region: string;
  readonly datacenter: string;
}

/**
 * A cluster is one region and one datacenter. Requests for others are refused.
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

/** For the region in a body. @throws RosterError `invalid-body` */
export function requireRegion(own: string, { Region = '' }: Envelope): void {
  if (!isElsewhere(own, Region)) return;
  const message = mustBe('region', own, Region);
  throw invalid('invalid-body', [faultAt(below(null, 'Region'), message)]);
}

const isElsewhere = (own: string, region: string): boolean =>
  !!region && region !== own && region !== 'global';

const mustBe = (noun: string, own: string, found: string): string =>
  `must be ${quote(own)}, the ${noun} of this server, and is ${quote(found)}`;

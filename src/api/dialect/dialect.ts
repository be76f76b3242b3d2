import type { Endpoint } from '../../contract/endpoint.ts';
import type { SharedQuery } from '../../contract/shared-query.ts';
import { problemOf, type RosterError, refusal } from '../../model/errors.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import type { Caller } from '../../model/permission/caller.ts';
import type { Request } from '../http.ts';

/**
 * How a caller and this server speak: names of headers, the form of errors, where the token is and how
 * the place is told. What is said, the contract decides; a dialect is one value, in a file of its own.
 */
export interface Dialect {
  readonly name: string;
  /** Names of headers of answers, in lower case; absent: the dialect does not tell it. */
  readonly headers: HeaderNames;
  /** What every answer to a read tells. Written out, since every read makes one. */
  readonly readHeaders: (index: string) => Record<string, string>;
  /** The secret that a request presents. */
  readonly secretIn: (request: Request) => string | undefined;
  /** Where a request means to be, once it is known who asks. */
  readonly placeOf: PlaceOf;
  /** What is answered to an error. */
  readonly statusOf: (error: RosterError) => number;
  readonly problemOf: (error: RosterError) => Problem;
}

export interface HeaderNames {
  readonly index: string;
  readonly knownLeader: string;
  readonly lastContact: string;
  readonly nextToken: string;
  readonly filteredByAcls?: string;
  readonly defaultPolicy?: string;
}

export type PlaceOf = (
  query: Pick<SharedQuery, 'namespace' | 'ns' | 'partition'>,
  /** The body and what came around it. */
  given: unknown,
  request: Request,
) => (caller: Caller) => Scope;

interface Problem {
  readonly contentType: string;
  readonly body: string;
}

/** A dialect that has endpoints under paths of its own, beside the two that the contract has. */
export interface ForeignDialect extends Dialect {
  /** `undefined`: the dialect has no such endpoint. */
  readonly pathOf: (endpoint: Endpoint) => string | undefined;
  /** Whether a request to this path is answered in the dialect, even where nothing is there. */
  readonly owns: (path: string) => boolean;
}

/** `application/problem+json` (RFC 9457), with the status of the catalogue. */
export const plainProblems = {
  statusOf: (error: RosterError): number => error.status,
  problemOf: (error: RosterError): Problem => ({
    contentType: 'application/problem+json',
    body: JSON.stringify(problemOf(error)),
  }),
};

/** Keys of the state are parts that end in NUL: none may hold one. */
export function checkedPlace(place: Scope): Scope {
  const { namespace, partition } = place;
  if (namespace.includes('\0')) throw refusal('namespace-not-found', { namespace });
  if (partition.includes('\0')) throw refusal('partition-not-found', { partition });
  return place;
}

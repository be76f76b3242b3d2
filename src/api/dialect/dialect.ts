import type { Endpoint } from '../../contract/endpoint.ts';
import type { SharedQuery } from '../../contract/shared-query.ts';
import { problemOf, type RosterError, refusal } from '../../model/errors.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import type { Caller } from '../../model/permission/caller.ts';
import type { Request } from '../http.ts';

/**
 * The conventions between callers and this server: header names, form of errors, place of the
 * token, and how a request gives its namespace. The contract is the same in every dialect. A
 * dialect is one value in a file of its own.
 */
export interface Dialect {
  readonly name: string;
  /** In lower case. An absent name means that the dialect has no such header. */
  readonly headers: HeaderNames;
  /** The headers of every read. A literal, because most requests are reads. */
  readonly readHeaders: (index: string) => Record<string, string>;
  /** The secret in a request. */
  readonly secretIn: (request: Request) => string | undefined;
  /** The namespace and partition of a request. */
  readonly placeOf: PlaceOf;
  readonly statusOf: (error: RosterError) => number;
  readonly problemOf: (error: RosterError) => WrittenProblem;
}

export interface HeaderNames {
  readonly index: string;
  readonly knownLeader: string;
  readonly lastContact: string;
  readonly nextToken: string;
  readonly total?: string;
  readonly filteredByAcls?: string;
  readonly defaultPolicy?: string;
}

export type PlaceOf = (
  query: Pick<SharedQuery, 'namespace' | 'ns' | 'partition'>,
  /** The body with its envelope. */
  given: unknown,
  request: Request,
) => (caller: Caller) => Scope;

interface WrittenProblem {
  readonly contentType: string;
  readonly body: string;
}

/** A dialect with its own paths, besides the two dialects of the contract. */
export interface ForeignDialect extends Dialect {
  /** `undefined`: the endpoint is not served in this dialect. */
  readonly pathOf: (endpoint: Endpoint) => string | undefined;
  /**
   * Whether the path belongs to the dialect. Its errors are then written in the dialect, even
   * without a route.
   */
  readonly owns: (path: string) => boolean;
}

/** `application/problem+json` (RFC 9457), with the status of the catalogue. */
export const plainProblems = {
  statusOf: (error: RosterError): number => error.status,
  problemOf: (error: RosterError): WrittenProblem => ({
    contentType: 'application/problem+json',
    body: JSON.stringify(problemOf(error)),
  }),
};

/** NUL separates the parts of a key in the state, so names must not contain it. */
export function checkedPlace(place: Scope): Scope {
  const { namespace, partition } = place;
  if (namespace.includes('\0')) throw refusal('namespace-not-found', { namespace });
  if (partition.includes('\0')) throw refusal('partition-not-found', { partition });
  return place;
}

import type { Authorizer } from '../acl/authorizer.ts';
import type { QueryTable } from '../contract/query.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import { RosterError, refusal } from '../model/errors.ts';
import type { Contact } from '../server/servers.ts';
import type { Snapshot } from '../state/types.ts';
import { readBody } from './body.ts';
import { header, type Request } from './http.ts';
import { type Home, requireHome, requireRegion } from './place.ts';
import { parseQuery, queryRefusal } from './query.ts';
import type { ReadsOptions } from './reads.ts';
import type { Input, Route } from './route.ts';
import type { Seen } from './trail.ts';

/** A route with all parameters of its query. */
export interface Prepared {
  readonly route: Route;
  readonly query: QueryTable;
}

export interface PrepareOptions extends Pick<ReadsOptions, 'state' | 'resolve'> {
  /** Requests for another region or datacenter are refused. */
  readonly home: Home;
  readonly contact: () => Contact;
}

/** A route with what it has found in the path. */
interface Path {
  readonly route: Prepared;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds the caller and parses the request, before the permission is checked. */
export function prepareInput(
  options: PrepareOptions,
  { route: { route, query: table }, parameters }: Path,
  seen: Seen,
  secret: string | undefined,
) {
  const { request, trail } = seen;
  const authorizer = resolveCaller(options, route, secret, request);
  trail.caller = authorizer.caller;
  // NUL separates the parts of a key in the state.
  for (const name in parameters) {
    if (!parameters[name]!.includes('\0')) continue;
    throw refusal('invalid-path', { reason: 'must not hold a NUL character' });
  }
  const { values, faults } = parseQuery(table, request.query);
  const shared = values as unknown as SharedQuery;
  requireHome(options.home, shared);
  if (faults.length > 0) throw queryRefusal(faults);
  if (shared.consistent) requireNoOther(shared);
  const { state, contact } = options;
  const { envelope, body, hasBody, unknownFields, bodyFaults } = readBody(route.endpoint, request);
  requireRegion(options.home.region, envelope);
  const given = body === undefined ? undefined : { ...envelope, ...body };
  const place = route.dialect.placeOf(shared, given, request);
  const address = () => request.remoteAddress ?? '';
  const headerOf = (name: string) => header(request, name) ?? '';
  // Each field is written out, as copying them by `...` costs every request.
  const input = ({ caller, allows }: Authorizer, snapshot: Snapshot): Input => {
    const { namespace, partition } = place(caller);
    return {
      parameters,
      query: values,
      body,
      hasBody,
      unknownFields,
      bodyFaults,
      namespace,
      partition,
      caller,
      address,
      header: headerOf,
      contact,
      allows,
      snapshot,
      unwatched: state.read(),
      moment: {},
    };
  };
  return { authorizer, shared, input };
}

function resolveCaller(
  { state, resolve }: PrepareOptions,
  route: Route,
  secret: string | undefined,
  { connection }: Request,
): Authorizer {
  try {
    return resolve(state.read(), secret, connection);
  } catch (thrown) {
    const isOld = thrown instanceof RosterError && thrown.code === 'token-not-found';
    if (!isOld || !route.endpoint.takesOldTokens) throw thrown;
    return resolve(state.read(), undefined, connection);
  }
}

/** @throws RosterError `invalid-query` if another consistency is asked for, too */
function requireNoOther(shared: SharedQuery): void {
  for (const parameter of ['stale', 'cached'] as const) {
    if (!shared[parameter]) continue;
    const reason = 'cannot be given together with "consistent": they contradict each other';
    throw refusal('invalid-query', { parameter, reason });
  }
}

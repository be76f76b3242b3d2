import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Request } from '../http.ts';

export interface AskedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Headers that a browser may give a request. The others are those of the connection. */
const ofRequest = ['accept', 'content-type', 'idempotency-key', 'traceparent'] as const;
const ofConnection = ['host', 'origin', 'sec-fetch-site'] as const;

/** The request as the pipeline takes it, with the token of its connection. */
export function requestFor(asked: AskedRequest, upgrade: Request, token: string): Request {
  const { method, path, headers = {}, body } = asked;
  const { jobBodyBytesMax, urlBytesMax } = limits.http;
  if (path.length > urlBytesMax) throw refusal('url-too-long', { limit: urlBytesMax });
  const bytes = body === undefined || body === '' ? undefined : new TextEncoder().encode(body);
  if (bytes !== undefined && bytes.length > jobBodyBytesMax) {
    throw refusal('body-too-large', { limit: jobBodyBytesMax });
  }
  const mark = path.indexOf('?');
  const given = (name: string) =>
    Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  return {
    method: method.toUpperCase(),
    path: mark < 0 ? path : path.slice(0, mark),
    query: mark < 0 ? '' : path.slice(mark + 1),
    headers: {
      ...Object.fromEntries(ofConnection.map((name) => [name, upgrade.headers[name]])),
      ...Object.fromEntries(ofRequest.map((name) => [name, given(name)])),
      ...(token !== '' && { 'x-registry-token': token }),
    },
    body: hasBody(method) ? bytes : undefined,
    connection: upgrade.connection,
    remoteAddress: upgrade.remoteAddress,
  };
}

/** The bodies of GET and HEAD have no meaning, and are dropped (RFC 9110 §9.3.1). */
const hasBody = (method: string): boolean => !/^(get|head)$/i.test(method);

/** The query with the namespace and the partition of the connection, unless it has its own. */
export function placedQuery(
  query: string,
  place: { readonly namespace: string; readonly partition: string },
): string {
  const parameters = new URLSearchParams(query);
  const lacking = Object.entries(place).filter(
    ([name, value]) => value !== '' && !parameters.has(name),
  );
  if (parameters.has('ns'))
    return placed(
      query,
      lacking.filter(([name]) => name !== 'namespace'),
    );
  return placed(query, lacking);
}

function placed(query: string, lacking: readonly (readonly [string, string])[]): string {
  if (lacking.length === 0) return query;
  const more = new URLSearchParams(Object.fromEntries(lacking));
  return query === '' ? `${more}` : `${query}&${more}`;
}

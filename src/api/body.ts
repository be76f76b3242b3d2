import { decode } from '../model/codec.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Request } from './http.ts';
import { parseJson } from './json.ts';
import type { Route } from './route.ts';

/** The body by the route's schema, and the namespace that query or body select. */
export function readBody(route: Route, request: Request, inQuery: string | undefined) {
  const { body: definition } = route;
  if (definition === undefined) {
    return { body: undefined, unknownFields: [], namespace: inQuery };
  }
  if (request.headers['content-encoding'] !== undefined) {
    const encoding = String(request.headers['content-encoding']);
    if (encoding !== 'identity') throw refusal('unsupported-encoding', { encoding });
  }
  const most = definition.bytesMax ?? limits.http.bodyBytesMax;
  if ((request.body?.length ?? 0) > most) throw refusal('body-too-large', { limit: most });
  if (request.body === undefined && !definition.optional) throw refusal('body-required');
  const parsed = request.body === undefined ? {} : parseJson(request.body);
  const { value, unknown } = decode(definition.schema, parsed, {
    unknown: definition.unknown,
    checkValues: definition.checkValues ?? true,
  });
  const body = value as { Namespace?: string; Job?: { Namespace?: string } } | null;
  const namespace = inQuery || body?.Namespace || body?.Job?.Namespace || undefined;
  if (namespace?.includes('\0')) throw refusal('namespace-not-found', { namespace });
  return { body: value, unknownFields: unknown, namespace };
}

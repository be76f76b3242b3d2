import { decode, decodeInPart } from '../model/codec.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Request } from './http.ts';
import { parseJson } from './json.ts';
import type { Route } from './route.ts';

/** The body by the route's schema. */
export function readBody(route: Route, request: Request) {
  const { body: definition } = route;
  if (definition === undefined) {
    return { body: undefined, unknownFields: [], bodyFaults: [] };
  }
  if (request.headers['content-encoding'] !== undefined) {
    const encoding = String(request.headers['content-encoding']);
    if (encoding !== 'identity') throw refusal('unsupported-encoding', { encoding });
  }
  const most = definition.bytesMax ?? limits.http.bodyBytesMax;
  if ((request.body?.length ?? 0) > most) throw refusal('body-too-large', { limit: most });
  if (request.body === undefined && !definition.optional) throw refusal('body-required');
  if (definition.raw !== undefined) {
    const bytes = Buffer.from(request.body ?? []);
    return {
      body: { [definition.raw]: bytes.toString('base64') },
      unknownFields: [],
      bodyFaults: [],
    };
  }
  const given = request.body === undefined ? {} : parseJson(request.body);
  // Typed clients send the nothing that they have.
  const parsed = given === null && definition.optional ? {} : given;
  if (definition.decode !== undefined) {
    return { body: definition.decode(parsed), unknownFields: [], bodyFaults: [] };
  }
  const read = definition.faults === 'later' ? decodeInPart : decodeWhole;
  const { value, unknown, faults } = read(definition.schema, parsed, {
    unknown: definition.unknown,
    checkValues: definition.checkValues ?? true,
  });
  return { body: value, unknownFields: unknown, bodyFaults: faults };
}

const decodeWhole: typeof decodeInPart = (...input) => ({ ...decode(...input), faults: [] });

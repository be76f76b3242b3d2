import type { Endpoint } from '../contract/endpoint.ts';
import { decode, decodeInPart } from '../model/codec.ts';
import { type Fault, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { bodySchema, type Envelope, openEnvelope } from './envelope.ts';
import type { Request } from './http.ts';
import { parseJson } from './json.ts';

interface ReadBody {
  readonly body: unknown;
  readonly hasBody: boolean;
  readonly envelope: Envelope;
  readonly unknownFields: readonly string[];
  readonly bodyFaults: readonly Fault[];
}

export function readBody({ body: definition, family }: Endpoint, request: Request): ReadBody {
  const most = definition?.bytesMax ?? limits.http.bodyBytesMax;
  if ((request.body?.length ?? 0) > most) throw refusal('body-too-large', { limit: most });
  if (definition === undefined || definition.isStreamed) return noBody;
  if (request.headers['content-encoding'] !== undefined) {
    const encoding = String(request.headers['content-encoding']);
    if (encoding !== 'identity') throw refusal('unsupported-encoding', { encoding });
  }
  if (request.body === undefined && !definition.optional) throw refusal('body-required');
  if (definition.raw !== undefined) {
    const bytes = Buffer.from(request.body ?? []);
    return only({ [definition.raw]: bytes.toString('base64') }, bytes.length > 0);
  }
  const given = request.body === undefined ? null : parseJson(request.body);
  // Typed clients send `null` instead of no body.
  const hasBody = given !== null || !definition.optional;
  const parsed = hasBody ? given : {};
  if (definition.decode !== undefined) {
    return only(definition.decode(parsed), hasBody);
  }
  const read = definition.faults === 'later' ? decodeInPart : decodeWhole;
  const { value, unknown, faults } = read(bodySchema(family, definition), parsed, {
    unknown: definition.unknown,
    checkValues: definition.checkValues ?? true,
  });
  const opened = openEnvelope(family, definition, value);
  return { ...opened, hasBody, unknownFields: unknown, bodyFaults: faults };
}

const only = (body: unknown, hasBody: boolean): ReadBody => ({
  body,
  hasBody,
  envelope: {},
  unknownFields: [],
  bodyFaults: [],
});

const noBody = only(undefined, false);

const decodeWhole: typeof decodeInPart = (...input) => ({ ...decode(...input), faults: [] });

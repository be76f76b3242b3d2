/** The messages on the connection of the web interface. Source: docs/contract/ui-stream.md. */
import type { Problem } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Difference, Json } from './difference.ts';

export const uiStreamPath = '/v1/ui/stream';
/** Not in limits: the version of the protocol. */
export const uiStreamVersion = 1;

/** From the browser. `id` is chosen by it and names a request until that ends. */
export type ClientMessage =
  | {
      readonly kind: 'hello';
      readonly version: number;
      /** Empty: none. */
      readonly token: string;
      readonly namespace: string;
      readonly partition: string;
    }
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | undefined;
    }
  | {
      readonly kind: 'stream';
      readonly id: number;
      readonly path: string;
      /** Bytes that may be sent before the first grant. */
      readonly bytes: number;
    }
  | {
      readonly kind: 'watch';
      readonly id: number;
      readonly path: string;
      /** The version of the value that the browser has; empty: none. */
      readonly has: string;
    }
  | { readonly kind: 'acknowledge'; readonly id: number }
  | { readonly kind: 'grant'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'end'; readonly id: number };

/** Facts about a watched value, beside it. */
export interface About {
  /** Names the value, for a later resume. */
  readonly version: string;
  readonly index: number;
  readonly nextToken?: string;
  /** The number of records of all pages, where the path asks for it and they can be counted. */
  readonly total?: number;
  /** The server had no contact with a leader. */
  readonly stale: boolean;
}

/**
 * From the server, as text. Parts of bodies come as binary messages: four bytes with the id, the highest
 * first, then the bytes; a part without bytes is the last.
 */
export type ServerMessage =
  | {
      readonly kind: 'welcome';
      readonly version: number;
      readonly index: number;
      /** When the hello came and when this message was sent, in milliseconds since 1970 by the clock of the server. */
      readonly heardMs: number;
      readonly nowMs: number;
      /** Whether the server knows a leader. */
      readonly knownLeader: boolean;
    }
  | {
      readonly kind: 'beat';
      readonly index: number;
      readonly nowMs: number;
      readonly knownLeader: boolean;
    }
  /** A whole answer. */
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** An answer whose body follows in parts. */
  | {
      readonly kind: 'head';
      readonly id: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
    }
  /** The body has ended before its end. */
  | { readonly kind: 'broken'; readonly id: number }
  | ({ readonly kind: 'value'; readonly id: number; readonly value: Json } & About)
  | ({ readonly kind: 'change'; readonly id: number; readonly change: Difference } & About)
  | ({ readonly kind: 'same'; readonly id: number } & About)
  /** The watched path has no value now. It may have one later. */
  | { readonly kind: 'refused'; readonly id: number; readonly problem: Problem }
  /** The last message: why the connection ends. */
  | { readonly kind: 'bye'; readonly problem: Problem };

/** The message breaks the protocol. The connection is closed with the message of the error as the reason. */
export class MalformedUiMessage extends Error {}

type Fields = Readonly<Record<string, unknown>>;

/** @throws MalformedUiMessage */
export function parseUiMessage(given: string): ClientMessage {
  const fields = fieldsIn(given);
  const { kind } = fields;
  switch (kind) {
    case 'hello':
      return {
        kind,
        version: whole(fields, 'version'),
        token: text(fields, 'token'),
        namespace: text(fields, 'namespace'),
        partition: text(fields, 'partition'),
      };
    case 'call':
      return {
        kind,
        id: idIn(fields),
        method: required(fields, 'method'),
        path: pathIn(fields),
        headers: headersIn(fields),
        body: fields.body === undefined ? undefined : text(fields, 'body'),
      };
    case 'stream':
      return { kind, id: idIn(fields), path: pathIn(fields), bytes: bytesIn(fields) };
    case 'watch':
      return { kind, id: idIn(fields), path: pathIn(fields), has: text(fields, 'has') };
    case 'grant':
      return { kind, id: idIn(fields), bytes: bytesIn(fields) };
    case 'acknowledge':
    case 'end':
      return { kind, id: idIn(fields) };
    default:
      throw new MalformedUiMessage('The message is of no known kind.');
  }
}

function fieldsIn(given: string): Fields {
  let parsed: unknown;
  try {
    parsed = JSON.parse(given);
  } catch {
    throw new MalformedUiMessage('The message is not JSON.');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new MalformedUiMessage('The message is not a JSON object.');
  }
  return parsed as Fields;
}

function text(fields: Fields, name: string): string {
  const given = fields[name] ?? '';
  if (typeof given !== 'string') throw new MalformedUiMessage(`"${name}" is not a text.`);
  return given;
}

function required(fields: Fields, name: string): string {
  const given = text(fields, name);
  if (given === '') throw new MalformedUiMessage(`"${name}" is missing.`);
  return given;
}

function whole(fields: Fields, name: string): number {
  const given = fields[name];
  if (!Number.isSafeInteger(given) || (given as number) < 0) {
    throw new MalformedUiMessage(`"${name}" is not a whole number.`);
  }
  return given as number;
}

/** Not in limits: four bytes of a binary message. */
const idMax = 2 ** 32 - 1;

function idIn(fields: Fields): number {
  const id = whole(fields, 'id');
  if (id > idMax) throw new MalformedUiMessage(`"id" is greater than ${idMax}.`);
  return id;
}

function bytesIn(fields: Fields): number {
  const { creditBytesMax } = limits.uiStream;
  const bytes = whole(fields, 'bytes');
  if (bytes > creditBytesMax) {
    throw new MalformedUiMessage(`"bytes" is greater than ${creditBytesMax}.`);
  }
  return bytes;
}

function pathIn(fields: Fields): string {
  const path = required(fields, 'path');
  const { pathLengthMax } = limits.uiStream;
  if (path.length > pathLengthMax) {
    throw new MalformedUiMessage(`"path" is longer than ${pathLengthMax} characters.`);
  }
  // The path must name nothing but a path: no other host, and no fragment.
  if (!/^\/v1\/[!-"$-~]*$/.test(path)) {
    throw new MalformedUiMessage('"path" does not begin with /v1/, or is not percent-encoded.');
  }
  return path;
}

function headersIn(fields: Fields): Readonly<Record<string, string>> {
  const given = fields.headers ?? {};
  const isRecord = typeof given === 'object' && given !== null && !Array.isArray(given);
  if (!isRecord || !Object.values(given).every((value) => typeof value === 'string')) {
    throw new MalformedUiMessage('"headers" is not an object of texts.');
  }
  return given as Readonly<Record<string, string>>;
}

/** A part of a body, as it is sent. */
export function encodePart(id: number, bytes: Uint8Array): Uint8Array {
  const part = new Uint8Array(idBytes + bytes.length);
  new DataView(part.buffer).setUint32(0, id);
  part.set(bytes, idBytes);
  return part;
}

/** @throws MalformedUiMessage */
export function decodePart(part: Uint8Array): { readonly id: number; readonly bytes: Uint8Array } {
  if (part.length < idBytes) throw new MalformedUiMessage('A part is too short.');
  const { buffer, byteOffset } = part;
  return { id: new DataView(buffer, byteOffset).getUint32(0), bytes: part.subarray(idBytes) };
}

/** Not in limits: the id in front of a part. */
const idBytes = 4;

/**
 * Frames of the connection that a node opens to a server
 * (docs/behaviour/nodes.md#the-nodes-stream). Control frames are JSON text:
 *
 *     {"open":1,"kind":"logs","params":{…},"credit":262144}
 *     {"credit":1,"bytes":131072}   {"end":1}   {"close":1}
 *     {"error":1,"status":404,"code":"not-found","message":"…"}
 *
 * A data frame is binary: the stream's id as four bytes, most significant first, then up to 64 KiB.
 */
import { limits } from '../limits.ts';

/** The largest outstanding credit of a stream. */
export const maximumCreditBytes = limits.stream.creditBytesMax;

export type ControlFrame =
  | {
      readonly type: 'open';
      readonly id: number;
      readonly kind: string;
      readonly params: Readonly<Record<string, unknown>>;
      readonly creditBytes: number;
    }
  | { readonly type: 'credit'; readonly id: number; readonly bytes: number }
  | { readonly type: 'close'; readonly id: number }
  | { readonly type: 'end'; readonly id: number }
  | ({ readonly type: 'error'; readonly id: number } & StreamFaultFields);

export interface StreamFaultFields {
  /** An HTTP status. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export interface DataFrame {
  readonly id: number;
  readonly payload: Uint8Array;
}

/** A frame that breaks the protocol: the connection is closed with this reason. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

export function encodeControl(frame: ControlFrame): string {
  switch (frame.type) {
    case 'open': {
      const { id, kind, params, creditBytes } = frame;
      return JSON.stringify({ open: id, kind, params, credit: creditBytes });
    }
    case 'credit':
      return JSON.stringify({ credit: frame.id, bytes: frame.bytes });
    case 'close':
      return JSON.stringify({ close: frame.id });
    case 'end':
      return JSON.stringify({ end: frame.id });
    case 'error': {
      const { id, status, code, message } = frame;
      return JSON.stringify({ error: id, status, code, message });
    }
  }
}

/**
 * Reads a control frame. Throws {@link MalformedFrame}. Unknown members are ignored, so that frames can grow.
 */
export function decodeControl(text: string): ControlFrame {
  if (text.length > limits.stream.frameBytesMax) {
    throw new MalformedFrame(`a control frame has ${text.length} characters`);
  }
  const frame = parseObject(text);
  // An open frame has a `credit` of its own, so it is checked first.
  if ('open' in frame) return decodeOpen(frame);
  if ('credit' in frame) {
    return { type: 'credit', id: streamId(frame.credit), bytes: credit(frame.bytes, 1) };
  }
  if ('close' in frame) return { type: 'close', id: streamId(frame.close) };
  if ('end' in frame) return { type: 'end', id: streamId(frame.end) };
  if ('error' in frame) {
    const { status, code, message } = frame;
    return {
      type: 'error',
      id: streamId(frame.error),
      status: typeof status === 'number' && status >= 400 && status <= 599 ? status : 500,
      code: typeof code === 'string' ? code : 'unknown',
      message: typeof message === 'string' ? message : 'the stream failed without a message',
    };
  }
  throw new MalformedFrame('a control frame is none of open, credit, close, end, error');
}

function decodeOpen(frame: Record<string, unknown>): ControlFrame {
  const { kind, params = {} } = frame;
  if (typeof kind !== 'string' || kind === '') {
    throw new MalformedFrame('an open frame has no kind');
  }
  if (!isObject(params)) throw new MalformedFrame('the params of an open frame are not an object');
  const creditBytes = credit(frame.credit, 0);
  return { type: 'open', id: streamId(frame.open), kind, params, creditBytes };
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new MalformedFrame('a control frame is not JSON');
  }
  if (!isObject(value)) throw new MalformedFrame('a control frame is not an object');
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function streamId(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) < 2 ** 32) {
    return value as number;
  }
  throw new MalformedFrame('a stream id is not an integer from 1 to 2^32 - 1');
}

function credit(value: unknown, minimum: number): number {
  const bytes = value as number;
  if (Number.isInteger(value) && bytes >= minimum && bytes <= maximumCreditBytes) return bytes;
  throw new MalformedFrame(`a credit is not an integer from ${minimum} to ${maximumCreditBytes}`);
}

/** Encodes into `memory`, which has to be as long as the frame. */
export function encodeData(
  frame: DataFrame,
  memory: Uint8Array<ArrayBuffer> = new Uint8Array(4 + frame.payload.length),
): Uint8Array<ArrayBuffer> {
  new DataView(memory.buffer, memory.byteOffset, 4).setUint32(0, frame.id);
  memory.set(frame.payload, 4);
  return memory;
}

/** Reads a data frame. The payload is a view of `bytes`. Throws {@link MalformedFrame}. */
export function decodeData(bytes: Uint8Array): DataFrame {
  if (bytes.length < 4) throw new MalformedFrame('a data frame is shorter than its stream id');
  const payload = bytes.subarray(4);
  if (payload.length > limits.stream.frameBytesMax) {
    throw new MalformedFrame(`a data frame carries ${payload.length} bytes`);
  }
  const id = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  return { id: streamId(id), payload };
}

/**
 * The frames of a session on a stream between server, node and supervisor, after the stream's own parameters.
 * They are bytes, like the output of commands: a byte for the kind, the length of the payload as four bytes,
 * most significant first, and the payload.
 */
import { limits } from '../limits.ts';
import type { TerminalSize } from './exec-session.ts';

export type ExecFrame =
  /** The command runs. The first frame from the side that runs it. */
  | { readonly kind: 'started' }
  | { readonly kind: 'stdin' | 'stdout' | 'stderr'; readonly data: Uint8Array }
  | { readonly kind: 'closeInput' }
  | ({ readonly kind: 'size' } & TerminalSize)
  /** The last frame: all output came before. */
  | { readonly kind: 'exited'; readonly exitCode: number };

/** A frame that no correct sender makes. */
export class MalformedExecFrame extends Error {
  override readonly name = 'MalformedExecFrame';
}

const kinds = ['started', 'stdin', 'stdout', 'stderr', 'closeInput', 'size', 'exited'] as const;
/** Not in limits: the kind and the length of the payload. */
const headBytes = 5;
const payloadBytesMax = limits.stream.frameBytesMax;

export function encodeExecFrame(frame: ExecFrame): Uint8Array {
  const payload = payloadOf(frame);
  const bytes = new Uint8Array(headBytes + payload.length);
  bytes[0] = kinds.indexOf(frame.kind);
  new DataView(bytes.buffer).setUint32(1, payload.length);
  bytes.set(payload, headBytes);
  return bytes;
}

function payloadOf(frame: ExecFrame): Uint8Array {
  switch (frame.kind) {
    case 'stdin':
    case 'stdout':
    case 'stderr':
      return frame.data;
    case 'size':
      return numbers(frame.height, frame.width);
    case 'exited':
      return numbers(frame.exitCode);
    default:
      return new Uint8Array(0);
  }
}

/** Splits data into frames. */
export function* dataFrames(kind: 'stdin' | 'stdout' | 'stderr', data: Uint8Array) {
  for (let at = 0; at < data.length; at += payloadBytesMax) {
    yield encodeExecFrame({ kind, data: data.subarray(at, at + payloadBytesMax) });
  }
}

/** Splits incoming bytes into frames. Its `read` throws {@link MalformedExecFrame}. */
export class ExecFrameReader {
  #waiting: Uint8Array = new Uint8Array(0);

  *read(chunk: Uint8Array): Generator<ExecFrame, void> {
    let rest = this.#waiting.length === 0 ? chunk : joined(this.#waiting, chunk);
    while (rest.length >= headBytes) {
      const length = new DataView(rest.buffer, rest.byteOffset).getUint32(1);
      if (length > payloadBytesMax) throw new MalformedExecFrame(`a frame of ${length} bytes`);
      if (rest.length < headBytes + length) break;
      const payload = rest.subarray(headBytes, headBytes + length);
      const kind = kinds[rest[0]!];
      rest = rest.subarray(headBytes + length);
      this.#waiting = rest;
      yield frameOf(kind, payload);
    }
    // A copy, so that the rest does not keep the whole chunk in memory.
    this.#waiting = new Uint8Array(rest);
  }
}

function frameOf(kind: (typeof kinds)[number] | undefined, payload: Uint8Array): ExecFrame {
  const at = (index: number): number => {
    if (payload.length < (index + 1) * 4) throw new MalformedExecFrame('a frame is too short');
    return new DataView(payload.buffer, payload.byteOffset).getUint32(index * 4);
  };
  switch (kind) {
    case undefined:
      throw new MalformedExecFrame('a frame of an unknown kind');
    case 'stdin':
    case 'stdout':
    case 'stderr':
      return { kind, data: payload };
    case 'size':
      return { kind, height: at(0), width: at(1) };
    case 'exited':
      return { kind, exitCode: at(0) };
    default:
      return { kind };
  }
}

function numbers(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  for (const [index, value] of values.entries()) {
    new DataView(bytes.buffer).setUint32(index * 4, value);
  }
  return bytes;
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}

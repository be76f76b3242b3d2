/** The formats in which a runtime delivers a container's output. Pure. */
import { containerLogLimits } from '../../limits.ts';

export interface LogFrame {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Buffer;
}

/** Not in limits: the runtimes' format. */
const headerBytes = 8;

/**
 * Cuts a multiplexed stream into frames: one byte for the stream, three zero bytes, four bytes of
 * length, the data. Throws when the bytes have another form.
 */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #missingBytes = 0;
  #stream: LogFrame['stream'] = 'stdout';

  *push(chunk: Buffer): Generator<LogFrame> {
    let given = chunk;
    while (given.length > 0) {
      if (this.#missingBytes > 0) {
        const part = given.subarray(0, this.#missingBytes);
        given = given.subarray(part.length);
        this.#parts.push(part);
        this.#missingBytes -= part.length;
        if (this.#missingBytes === 0) yield this.#wholeFrame();
        continue;
      }
      const needed = headerBytes - this.#rest.length;
      this.#rest = Buffer.concat([this.#rest, given.subarray(0, needed)]);
      given = given.subarray(needed);
      if (this.#rest.length === headerBytes) this.#begin();
    }
  }

  #begin(): void {
    const header = this.#rest;
    const kind = header[0]!;
    this.#rest = Buffer.alloc(0);
    this.#stream = kind === 2 ? 'stderr' : 'stdout';
    this.#missingBytes = header.readUInt32BE(4);
    const isFrame = kind <= 2 && header[1] === 0 && header[2] === 0 && header[3] === 0;
    if (!isFrame || this.#missingBytes > containerLogLimits.frameBytesMax)
      throw new Error('this is no log stream');
  }

  #wholeFrame(): LogFrame {
    const data = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    return { stream: this.#stream, data };
  }
}

const stamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) /;
/** Not in limits: the longest time stamp, by the pattern. */
const stampBytesMax = 36;

/**
 * The time of an entry as a key that sorts in time order, and its output. Runtimes tell times to
 * the nanosecond or to the second.
 */
export function readStamp(entry: Buffer): { readonly key: string; readonly data: Buffer } {
  const match = stamp.exec(entry.toString('latin1', 0, stampBytesMax));
  if (match === null) return { key: '', data: entry };
  const [whole, time, fraction = '', zone] = match;
  const seconds = Date.parse(`${time}${zone}`) / 1000;
  const key = `${String(seconds).padStart(12, '0')}.${fraction.padEnd(9, '0')}`;
  return { key, data: entry.subarray(whole.length) };
}

/** The whole seconds of a key, since 1970; 0 when there is none. */
export const secondsOf = (key: string): number => (key === '' ? 0 : Math.floor(Number(key)));

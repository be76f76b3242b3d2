import type { RosterError } from '../model/errors.ts';
import { type ByteStream, StreamFault } from '../model/node-stream/byte-stream.ts';

const encoder = new TextEncoder();

export const writeText = (stream: ByteStream, text: string): Promise<void> =>
  stream.write(encoder.encode(text));

/**
 * Writes the first line of a stream to a server, in JSON. It says that the request is accepted, so
 * the server can begin its answer before there is any data.
 */
export const writeHead = (stream: ByteStream, head: object = {}): Promise<void> =>
  writeText(stream, `${JSON.stringify(head)}\n`);

/** A refusal of the catalogue, as a stream carries it. */
export const streamRefusal = ({ status, code, detail }: RosterError): StreamFault =>
  new StreamFault({ status, code, message: detail });

export const allocationNotHere = (id: string): StreamFault => {
  const message = `The allocation "${id}" is not on its node any more.`;
  return new StreamFault({ status: 404, code: 'allocation-not-found', message });
};

/** Bounds how many requests run at a time for each key. */
export class Counted {
  readonly #counts = new Map<string, number>();

  /** Throws the error of `tooMany` when `most` requests of the key are under way. */
  async during<T>(
    key: string,
    most: number,
    tooMany: () => Error,
    run: () => Promise<T>,
  ): Promise<T> {
    const count = this.#counts.get(key) ?? 0;
    if (count >= most) throw tooMany();
    this.#counts.set(key, count + 1);
    try {
      return await run();
    } finally {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    }
  }
}

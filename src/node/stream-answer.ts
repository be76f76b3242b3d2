import type { RosterError } from '../model/errors.ts';
import { type ByteStream, StreamFault } from '../model/node-stream/byte-stream.ts';

const encoder = new TextEncoder();

export const writeText = (stream: ByteStream, text: string): Promise<void> =>
  stream.write(encoder.encode(text));

/**
 * What a stream to a server begins with: one line of JSON. It says that nothing stands in the way,
 * so that the server can begin its answer before there is anything to tell.
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

/** So many at a time of each key. */
export class Counted {
  readonly #counts = new Map<string, number>();

  /** Throws what `tooMany` makes when there are `most` under way. */
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

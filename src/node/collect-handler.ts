import { refusal } from '../model/errors.ts';
import type { StreamHandler } from '../model/node-stream/stream-connection.ts';
import { allocationNotHere, streamRefusal, writeHead } from './stream-answer.ts';
import { streamParams } from './stream-params.ts';

/** The part of a node's allocations that removes some of them. */
export interface Collected {
  get(id: string): { readonly isDone: boolean } | undefined;
  remove(id: string): Promise<void>;
  /** Removes all that are over, once the servers know it. */
  removeOver(): Promise<void>;
}

/** Streams of the kind `collect`: `alloc_id`, or nothing for all that are over. */
export const collectHandler =
  (allocations: () => Collected | undefined): StreamHandler =>
  async (stream, given) => {
    const id = streamParams(given).optional('alloc_id');
    const all = allocations();
    if (id === '') {
      await all?.removeOver();
    } else {
      const found = all?.get(id);
      if (found === undefined) throw allocationNotHere(id);
      if (!found.isDone) throw streamRefusal(refusal('not-over', { id }));
      await all?.remove(id);
    }
    await writeHead(stream);
  };

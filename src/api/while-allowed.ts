import type { Timer, Timers } from '../base/ports.ts';
import { RosterError } from '../model/errors.ts';

export interface WhileAllowed {
  readonly timers: Timers;
  /** The time between two checks of a silent stream. */
  readonly everyMs: number;
  /** Checks the permission of the caller anew. @throws RosterError */
  readonly renew: () => unknown;
  /** Ends the source, which then may fail. */
  readonly end: () => void;
  /** The last part of the answer, after a refusal. */
  readonly last: (refused: RosterError) => Uint8Array;
}

/** A stream that ends when its caller may not read it any more. */
export async function* whileAllowed(
  source: AsyncIterable<Uint8Array>,
  { timers, everyMs, renew, end, last }: WhileAllowed,
): AsyncGenerator<Uint8Array, void> {
  let ended: { readonly by: unknown } | undefined;
  let timer: Timer | undefined;
  const isAllowed = (): boolean => {
    try {
      if (ended === undefined) renew();
    } catch (error) {
      ended = { by: error };
      end();
    }
    return ended === undefined;
  };
  const watch = () => {
    timer = timers.after(everyMs, () => {
      if (isAllowed()) watch();
    });
  };
  watch();
  try {
    for await (const part of source) {
      if (!isAllowed()) break;
      yield part;
    }
  } catch (error) {
    ended ??= { by: error };
  } finally {
    timer?.clear();
    end();
  }
  if (ended === undefined) return;
  if (!(ended.by instanceof RosterError)) throw ended.by;
  yield last(ended.by);
}

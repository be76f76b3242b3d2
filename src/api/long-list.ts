import { limits } from '../model/limits.ts';
import { ListText } from './encode.ts';
import type { RowFunctions } from './list-walk.ts';
import type { Input } from './route.ts';
import type { Turns } from './turns.ts';

/** What a long list holds. */
export interface LongList {
  readonly row: RowFunctions;
  /** The first of it, as they are shown: made before anybody knew how long it is. */
  readonly shown: readonly unknown[];
  /** The rows of the others. */
  readonly rows: unknown[];
}

export interface BodyOptions {
  readonly input: Input;
  readonly pretty: boolean;
  readonly turns: Turns;
  /** Told of what is thrown, since the answer has begun and cannot be another one. */
  readonly onFailure: (thrown: unknown) => void;
}

/** The text of a long list. A part of it is made, in a turn, when the reader asks for one. */
export async function* longListBody(
  { row, shown, rows }: LongList,
  { input, pretty, turns, onFailure }: BodyOptions,
): AsyncGenerator<Uint8Array, void> {
  const text = new ListText(pretty);
  const count = limits.list.rowsPerStep;
  let [atShown, atRow] = [0, 0];
  let part = '';
  const step = (): boolean => {
    if (atShown < shown.length) {
      part += text.next(shown.slice(atShown, atShown + count));
      atShown += count;
    } else {
      const some = rows.slice(atRow, atRow + count);
      part += text.next(some.map((one) => row.present(one, input)));
      atRow += count;
    }
    return atShown >= shown.length && atRow >= rows.length;
  };
  const turn = () =>
    turns.take(step).catch((thrown: unknown) => {
      onFailure(thrown);
      throw thrown;
    });
  for (let isOver = false; !isOver; ) {
    part = '';
    isOver = await turn();
    yield Buffer.from(isOver ? part + text.end() : part);
  }
}

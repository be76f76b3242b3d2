import { limits } from '../model/limits.ts';
import { ListText } from './encode.ts';
import type { Input, ListRun } from './route.ts';
import type { Turns } from './turns.ts';

export interface LongList {
  readonly run: ListRun;
  /** The first records, presented before the list was known to be long. */
  readonly shown: readonly unknown[];
  /** The remaining rows. */
  readonly rows: unknown[];
}

export interface BodyOptions {
  readonly input: Input;
  readonly pretty: boolean;
  readonly turns: Turns;
  /** Called for errors, because the answer has already begun. */
  readonly onFailure: (thrown: unknown) => void;
}

/** The text of a long list. Each part is made in a turn, when the reader asks for it. */
export async function* longListBody(
  { run, shown, rows }: LongList,
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
      part += text.next(some.map((row) => run.present(row, input)));
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

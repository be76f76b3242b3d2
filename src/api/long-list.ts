import { limits } from '../model/limits.ts';
import type { Request } from './http.ts';
import { type ListForm, ListText } from './list-text.ts';
import { measuredStep } from './measured.ts';
import type { Turns } from './turns.ts';

export interface LongList {
  readonly form: ListForm;
  readonly recordOf: (row: unknown) => unknown;
  /** The first records, made before the list was known to be long. */
  readonly shown: readonly unknown[];
  /** The remaining rows. */
  readonly rows: unknown[];
}

interface LongListReader {
  readonly request: Pick<Request, 'follower'>;
  /** Called for errors, because the answer has already begun. */
  readonly onFailure: (thrown: unknown) => void;
}

/** The text of a long list. Each part is made in a turn, when the reader asks for it. */
export async function* longListBody(
  { form, recordOf, shown, rows }: LongList,
  turns: Turns,
  { request, onFailure }: LongListReader,
): AsyncGenerator<Uint8Array, void> {
  const text = new ListText(form);
  const count = limits.list.rowsPerStep;
  let [atShown, atRow] = [0, 0];
  let part = '';
  const step = measuredStep(() => {
    if (atShown < shown.length) {
      part += text.next(shown.slice(atShown, atShown + count));
      atShown += count;
    } else {
      const some = rows.slice(atRow, atRow + count);
      part += text.next(some.map(recordOf));
      atRow += count;
    }
    return atShown >= shown.length && atRow >= rows.length;
  }, request);
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

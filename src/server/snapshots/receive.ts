import type { Timers } from '../../base/ports.ts';
import { pause } from '../../base/slices.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { SnapshotReader } from '../../model/snapshot/snapshot-file.ts';
import type { SnapshotHeader } from '../../model/snapshot/snapshot-header.ts';
import { StateFormatUnknown } from '../../state/errors.ts';
import type { StateDraft } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';

/** A whole file that was checked, with its rows in tables. */
export interface Received {
  readonly header: SnapshotHeader;
  readonly draft: StateDraft;
  /** The bytes of the file. */
  readonly file: readonly Uint8Array[];
}

/**
 * Takes in the file of a snapshot, in slices, and changes nothing.
 * @throws RosterError `body-too-large`, `snapshot-damaged`, `snapshot-too-new`
 */
export async function receiveSnapshot(
  { state, world }: Pick<ServerContext, 'state' | 'world'>,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Received> {
  const draft = state.draft();
  const reader = new SnapshotReader();
  const file: Uint8Array[] = [];
  let header: SnapshotHeader | undefined;
  let bytes = 0;
  for await (const piece of whileItComes(pieces, world.timers)) {
    bytes += piece.byteLength;
    const limit = limits.snapshot.fileBytesMax;
    if (bytes > limit) throw refusal('body-too-large', { limit });
    // The reader's piece may be a part of a buffer that is used again.
    const own = Uint8Array.from(piece);
    file.push(own);
    for (const frame of reader.take(own)) {
      if (frame.kind === 'header') header = frame.header;
      if (frame.kind === 'rows') known(() => draft.add(frame.text));
      await pause(world.timers);
    }
  }
  reader.end();
  for (const _ of draft.settle()) await pause(world.timers);
  requireCounts(header!, draft);
  return { header: header!, draft, file };
}

/** Ends when no piece comes for too long. @throws RosterError `snapshot-damaged` */
async function* whileItComes(
  pieces: AsyncIterable<Uint8Array>,
  timers: Timers,
): AsyncGenerator<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const late = Promise.withResolvers<never>();
      const timer = timers.after(limits.snapshot.pieceWithinMs, () =>
        late.reject(new Error('nothing more came')),
      );
      const next = await Promise.race([source.next(), late.promise])
        .catch((error: Error) => {
          throw refusal('snapshot-damaged', { reason: `it did not come whole: ${error.message}` });
        })
        .finally(() => timer.clear());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    source.return?.()?.catch(() => {});
  }
}

/** Turns errors of the state into refusals of the catalogue. The rows of a damaged file may have any form. */
function known(add: () => void): void {
  try {
    add();
  } catch (error) {
    if (error instanceof StateFormatUnknown) {
      throw refusal('snapshot-too-new', { reason: error.message });
    }
    throw refusal('snapshot-damaged', { reason: 'rows of it cannot be read' });
  }
}

/** A file that no server made may have a right checksum and still lack a part. */
function requireCounts({ Tables }: SnapshotHeader, draft: StateDraft): void {
  const counted = new Map(draft.counts().map(({ name, rows }) => [name, rows]));
  for (const { Name, Rows } of Tables) {
    const found = counted.get(Name);
    if (found === undefined) {
      throw refusal('snapshot-too-new', { reason: `it has a table "${Name}"` });
    }
    if (found === Rows) continue;
    const reason = `its table "${Name}" has ${found} rows, and ${Rows} by its header`;
    throw refusal('snapshot-damaged', { reason });
  }
}

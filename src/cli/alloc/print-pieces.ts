import type { FilePiece } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { oneLine } from '../render/text.ts';

/** Prints the pieces of a file, and its events as notes. Resolves with `false` if the output was closed. */
export async function printPieces(
  { environment, notes }: Context,
  pieces: AsyncIterable<FilePiece>,
  sentences: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const { file, data, event } of pieces) {
    const sentence = event === undefined ? undefined : sentences[event];
    if (sentence !== undefined) await notes.line(`[${oneLine(file)}: ${sentence}]`);
    if (data.length > 0) await environment.stdout.write(data);
    if (signal.aborted) return false;
  }
  return true;
}

import { cliLimits } from '../limits.ts';

const newline = 0x0a;

/**
 * The last lines of a log, with their line ends. `read` returns the given number of last bytes; it is
 * called with larger numbers until there are enough lines, or the whole log was read.
 */
export async function readTail(
  read: (bytes: number) => AsyncIterable<Uint8Array>,
  lines: number,
): Promise<Uint8Array> {
  if (lines === 0) return new Uint8Array();
  for (let bytes: number = cliLimits.log.firstBytes; ; bytes *= 4) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of read(bytes)) chunks.push(chunk);
    const end = Buffer.concat(chunks);
    const start = startOfLines(end, lines);
    if (start !== undefined) return end.subarray(start);
    if (end.length < bytes || bytes >= cliLimits.log.allBytesMax) return end;
  }
}

/** The position of the last lines; `undefined` if there are too few line ends. */
function startOfLines(bytes: Uint8Array, lines: number): number | undefined {
  // The last byte may be the end of the last line, which begins no other line.
  let before = bytes.length - 1;
  for (let found = 0; found < lines; found++) {
    // A negative position would count from the end.
    const at = before <= 0 ? -1 : bytes.lastIndexOf(newline, before - 1);
    if (at < 0) return undefined;
    before = at;
  }
  return before + 1;
}

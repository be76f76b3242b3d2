const newline = 0x0a;

/** How much of a log is looked at for its last lines. */
export const limits = { firstBytes: 16 * 1024, mostBytes: 16 * 1024 * 1024 } as const;

/**
 * The last lines of a log, with their line ends. `read` gives the last so many bytes of it; it is
 * asked for more until there are enough lines, or all there is.
 */
export async function readTail(
  read: (bytes: number) => AsyncIterable<Uint8Array>,
  lines: number,
): Promise<Uint8Array> {
  if (lines === 0) return new Uint8Array();
  for (let bytes: number = limits.firstBytes; ; bytes *= 4) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of read(bytes)) chunks.push(chunk);
    const end = Buffer.concat(chunks);
    const start = startOfLines(end, lines);
    if (start !== undefined) return end.subarray(start);
    if (end.length < bytes || bytes >= limits.mostBytes) return end;
  }
}

/** Where the last lines begin; `undefined` when there are fewer line ends before them. */
function startOfLines(bytes: Uint8Array, lines: number): number | undefined {
  // The end of the last line begins no other.
  let before = bytes.length - 1;
  for (let found = 0; found < lines; found++) {
    // A negative position would count from the end.
    const at = before <= 0 ? -1 : bytes.lastIndexOf(newline, before - 1);
    if (at < 0) return undefined;
    before = at;
  }
  return before + 1;
}

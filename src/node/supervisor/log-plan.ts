/**
 * Where to cut a stream of output into files. Pure. Source: docs/behaviour/client.md#log-files.
 *
 * Invariants
 *  L1. No byte is lost, repeated or reordered: the files, one after the other, are the stream.
 *  L2. No file is longer than `maxFileBytes`.
 *  L3. A line of up to `lookBackBytes` stays in one file, even if it arrives in pieces: a line
 *      begins only where that much room is left, or where the whole line is at hand and fits.
 */
export interface LogPosition {
  readonly fileBytes: number;
  readonly inLine: boolean;
}

export interface LogLimits {
  readonly maxFileBytes: number;
  readonly lookBackBytes: number;
}

/** How many of the pending bytes to write, and whether to go on with the next file. */
export interface LogStep {
  readonly bytes: number;
  readonly rotate: boolean;
}

const newline = 10;

export const logLimits = (maxFileBytes: number): LogLimits => ({
  maxFileBytes,
  lookBackBytes: Math.min(32 * 1024, Math.floor(maxFileBytes / 2)),
});

/** The next step for pending bytes, at least one. */
export function planLogStep(
  pending: Uint8Array,
  position: LogPosition,
  { maxFileBytes, lookBackBytes }: LogLimits,
): LogStep {
  const room = maxFileBytes - position.fileBytes;
  if (pending.length > room) return cut(pending, position, room, lookBackBytes);
  const wholeLines = pending.lastIndexOf(newline) + 1;
  const begunLine = wholeLines < pending.length && (wholeLines > 0 || !position.inLine);
  const beginsAt = position.fileBytes + wholeLines;
  if (begunLine && beginsAt > 0 && maxFileBytes - beginsAt < lookBackBytes) {
    return { bytes: wholeLines, rotate: true };
  }
  return { bytes: pending.length, rotate: false };
}

/** More bytes are pending than fit: breaks after a line if one ends near the end of the file. */
function cut(
  pending: Uint8Array,
  position: LogPosition,
  room: number,
  lookBackBytes: number,
): LogStep {
  if (room <= 0) return { bytes: 0, rotate: true };
  const wholeLines = pending.lastIndexOf(newline, room - 1) + 1;
  if (wholeLines > 0 && room - wholeLines <= lookBackBytes) {
    return { bytes: wholeLines, rotate: true };
  }
  if (wholeLines === 0 && !position.inLine && position.fileBytes > 0 && room <= lookBackBytes) {
    return { bytes: 0, rotate: true };
  }
  return { bytes: room, rotate: true };
}

export function afterStep(
  position: LogPosition,
  pending: Uint8Array,
  { bytes, rotate }: LogStep,
): LogPosition {
  if (rotate) {
    const last = bytes > 0 ? pending[bytes - 1] !== newline : position.inLine;
    return { fileBytes: 0, inLine: last };
  }
  return { fileBytes: position.fileBytes + bytes, inLine: pending[bytes - 1] !== newline };
}

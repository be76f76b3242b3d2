/** Bounds of what the page of an allocation holds and asks. */
export const limits = {
  logs: {
    /** Lines and characters that are held; the oldest are let go. */
    linesMax: 5_000,
    charactersMax: 2 * 1024 * 1024,
    /** A longer line is held in parts. */
    lineLengthMax: 16 * 1024,
    /** The end of the log that is shown first, and after a pause. */
    tailBytes: 256 * 1024,
    /** A log that grows faster is not followed, but looked at from time to time. */
    followedBytesPerSecondMax: 512 * 1024,
    sampleBytes: 64 * 1024,
    sampleEveryMs: 400,
    /** Then there is time for the reader's clicks and keys. */
    sliceMs: 8,
    drawEveryMs: 100,
    /** Of a search through the whole log. */
    hitsShownMax: 200,
    contextLines: 2,
  },
  files: {
    listedMax: 500,
    /** The part of a file that is shown at once. */
    partBytes: 128 * 1024,
  },
  /** Bytes that are kept in memory for a download. */
  downloadBytesMax: 512 * 1024 * 1024,
  usage: { everyMs: 3_000, samplesMax: 120 },
  checksEveryMs: 5_000,
  terminal: { heartbeatMs: 10_000, scrollbackLines: 5_000 },
  timeLine: { eventsShownMax: 300 },
} as const;

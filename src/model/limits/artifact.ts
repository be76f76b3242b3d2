import { mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/**
 * What a node fetches for its tasks. The first five are what the agent's configuration may
 * change. Source: docs/guides/artifacts.md#limits.
 */
export const artifactLimits = {
  httpTimeoutMs: 30 * minuteMs,
  gitTimeoutMs: 30 * minuteMs,
  /** Size of one download. */
  downloadBytesMax: 100e9,
  /** What one archive, repository or directory may hold. */
  filesMax: 4096,
  unpackedBytesMax: 100e9,
  /** How many times larger than it came what is unpacked may be; the first bytes do not count. */
  ratioMax: 200,
  ratioFreeBytes: 64 * mebibyte,
  /** A server that says nothing for so long is given up. */
  idleTimeoutMs: 60 * secondMs,
  connectTimeoutMs: 10 * secondMs,
  redirectsMax: 10,
  /** How often a broken download goes on where it was, and after what time at first. */
  resumesMax: 4,
  resumeDelayMs: 1 * secondMs,
  /** Of one node. */
  parallelMax: 4,
  /** What a directory of a repository or an archive may lie below. */
  depthMax: 64,
  /** Text of a link in an archive. */
  linkLengthMax: 4096,
  /** How often the size of what a program fetches is looked at. */
  measureMs: 500,
  /** Memory of programs that unpack. */
  unpackMemoryMb: 256,
  programOutputMax: 4096,
} as const;

/** Files that an allocation takes over from the one before it. */
export const diskLimits = {
  bytesMax: 100e9,
  filesMax: 1_000_000,
  depthMax: 256,
  attemptsMax: 3,
  retryDelayMs: 1 * secondMs,
} as const;

import { mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/**
 * Bounds of the downloads of a node for its tasks. The first five are defaults of settings of the agent.
 * Source: docs/guides/artifacts.md#limits.
 */
export const artifactLimits = {
  httpTimeoutMs: 30 * minuteMs,
  gitTimeoutMs: 30 * minuteMs,
  /** Size of a download. */
  downloadBytesMax: 100e9,
  /** Contents of an archive, repository or directory. */
  filesMax: 4096,
  unpackedBytesMax: 100e9,
  /** The largest ratio of unpacked to packed size; the first bytes do not count. */
  ratioMax: 200,
  ratioFreeBytes: 64 * mebibyte,
  /** The time after which a silent server is given up. */
  idleTimeoutMs: 60 * secondMs,
  connectTimeoutMs: 10 * secondMs,
  redirectsMax: 10,
  /** How many times a broken download resumes, and the first delay. */
  resumesMax: 4,
  resumeDelayMs: 1 * secondMs,
  /** Downloads of a node at the same time. */
  parallelMax: 4,
  /** Nested directories in a repository or an archive. */
  depthMax: 64,
  /** Text of a link in an archive. */
  linkLengthMax: 4096,
  /** The interval at which the size of a program's download is measured. */
  measureMs: 500,
  /** Memory of programs that unpack. */
  unpackMemoryMb: 256,
  programOutputMax: 4096,
} as const;

/** Files that an allocation takes over from its predecessor. */
export const diskLimits = {
  bytesMax: 100e9,
  filesMax: 1_000_000,
  depthMax: 256,
  attemptsMax: 3,
  retryDelayMs: 1 * secondMs,
} as const;

import { kibibyte, mebibyte, secondMs } from '../../base/units.ts';

export const jobLimits = {
  /** Allocations of all groups of a job. */
  countMax: 50_000,
  groupsMax: 1000,
  tasksPerGroupMax: 100,
  priorityMin: 1,
  priorityMax: 100,
  priorityDefault: 50,
  versionsKept: 6,
  /** Tagged versions of a job, which are kept as long as they have a tag. */
  tagsMax: 100,
  tagLengthMax: 128,
  /** Jobs in a request for statuses. */
  statusesMax: 1000,
  submissionsKept: 6,
  submissionBytesMax: 1 * mebibyte,
  /**
   * The highest version that a submission may ask for. Versions only rise, and must never exceed the exact
   * integers.
   */
  versionMax: 2 ** 48,
  /**
   * Entries of the meta of a job, a group or a task. All of them become environment variables of the tasks.
   */
  metaMax: 1000,
  metaTextLengthMax: 64 * kibibyte,
  /** Patterns of constraints that are remembered as valid or not. */
  patternsRemembered: 1000,
} as const;

export const dispatchLimits = {
  /** The decoded payload. Source: docs/contract/jobs.md#limits. */
  payloadBytesMax: 16_384,
} as const;

export const periodicLimits = {
  specsMax: 16,
  specLengthMax: 256,
  /** Launches in a transaction, and the time after which it makes no more. */
  launchesPerTransactionMax: 32,
  sliceMs: 2,
  /** Deadlines are checked at least this often, as the machine's clock may jump. */
  recheckMs: 10 * secondMs,
  /** The time after which launches that found no room, or could not be written, are tried again. */
  retryMs: 1 * secondMs,
  /** Several launches by hand in a second get the ids of the following seconds, up to this many. */
  forcedAheadSecondsMax: 60,
} as const;

export const jobFileLimits = {
  /** UTF-16 code units of a job file that a server parses, and of its variables; commands take 1 Mi. */
  textLengthMax: 256 * kibibyte,
  faultsMax: 20,
} as const;

import { kibibyte, mebibyte, secondMs } from '../../base/units.ts';

export const jobLimits = {
  /** Sum of the groups' counts. */
  countMax: 50_000,
  groupsMax: 1000,
  tasksPerGroupMax: 100,
  priorityMin: 1,
  priorityMax: 100,
  priorityDefault: 50,
  versionsKept: 6,
  /** Versions with a tag, which are kept for as long as they have it. */
  tagsMax: 100,
  tagLengthMax: 128,
  /** Named by one request that asks how some jobs fare. */
  statusesMax: 1000,
  submissionsKept: 6,
  submissionBytesMax: 1 * mebibyte,
  /**
   * What a submission may ask for. A version only rises, and has to stay a number that can be
   * counted up for ever.
   */
  versionMax: 2 ** 48,
  /** Of a job, a group or a task each; all of it is put into the environment of the tasks. */
  metaMax: 1000,
  metaTextLengthMax: 64 * kibibyte,
  /** Patterns of constraints whose validity is remembered. */
  patternsRemembered: 1000,
} as const;

export const dispatchLimits = {
  /** Decoded. Source: docs/contract/jobs.md#limits. */
  payloadBytesMax: 16_384,
} as const;

export const periodicLimits = {
  specsMax: 16,
  specLengthMax: 256,
  /** Launches that one transaction makes, and after how long it makes no more. */
  launchesPerTransactionMax: 32,
  sliceMs: 2,
  /** Deadlines are looked at this often at least, as the machine's clock may jump. */
  recheckMs: 10 * secondMs,
  /** Launches that could not be written down, or for which there is no room, are tried again. */
  retryMs: 1 * secondMs,
  /** Launches by hand in one secondMs have the ids of the seconds that follow, up to so many. */
  forcedAheadSecondsMax: 60,
} as const;

export const jobFileLimits = {
  /** UTF-16 code units of one that a server reads, and of its variables; commands take 1 Mi. */
  textLengthMax: 256 * kibibyte,
  faultsMax: 20,
} as const;

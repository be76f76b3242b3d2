import { hourMs, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

export const nodeLimits = {
  /** Keys of meta that a list of the topology shows. */
  topologyMetaMax: 8,
  eventsKept: 10,
  attributesMax: 2000,
  attributeLengthMax: 4096,
  /** Resources that a machine may report: far beyond any machine that exists. */
  cpuMhzMax: 100_000_000,
  coresMax: 65_536,
  memoryMbMax: 1_000_000_000,
  diskMbMax: 1_000_000_000_000,
  networksMax: 256,
  driversMax: 256,
  /** A node's reason about a driver, in explanations and warnings. */
  driverReasonLengthMax: 200,
  hostVolumesMax: 1024,
  hostVolumePathLengthMax: 4096,
  /** Makes of devices, and instances of all makes together. */
  devicesMax: 256,
  deviceInstancesMax: 1024,
  deviceAttributesMax: 256,
  reservedPortsLengthMax: 4096,
  heartbeatTtlMinMs: 10 * secondMs,
  heartbeatGraceMs: 10 * secondMs,
  /** Heartbeats are spread so that the servers get at most this many in a second. */
  heartbeatsPerSecondMax: 50,
  /** The time that every node gets after a change of leader. */
  heartbeatFailoverTtlMs: 5 * minuteMs,
  /** The time after which a missed heartbeat is handled again if it could not be written. */
  missedRetryMs: 1 * secondMs,
  registrationRetryMs: 15 * secondMs,
  /** The time after which a node that gets no answer to its heartbeat turns to another server. */
  answerTimeoutMs: 5 * secondMs,
  allocationsPollWaitMs: 5 * minuteMs,
  statusBatchDelayMs: 200,
  statusBatchSizeMax: 1000,
  terminalAllocationsKept: 50,
  /** The time after which a node repeats a failed write to its disk. */
  saveRetryMs: 5 * secondMs,
  /** The time after which a node writes to its disk that a task has started, and that a last report was delivered. */
  saveSoonMs: 500,
  /** The interval of checks whether allocations reached their longest run time, as clocks may jump. */
  runDeadlineRecheckMs: 1 * minuteMs,
  /**
   * The default range of users for allocations: beyond the ids that Linux systems give to users, services,
   * containers and machines, and below the numbers that some programs take for negative.
   */
  uidRange: { start: 1_879_048_192, count: 2 ** 20 },
  /** Labels that tell the reason of a drain. */
  drainMetaMax: 64,
  drainMetaTextLengthMax: 512,
  drainDeadlineMaxMs: 100 * 24 * hourMs,
  /** The shortest interval of looks at draining nodes. */
  drainPassMs: 1 * secondMs,
  /** The longest time for which such a look holds others up. */
  drainSliceMs: 5,
  /** Deadlines are checked at least this often, as the machine's clock may jump. */
  drainRecheckMs: 1 * minuteMs,
  /** The time for a node to report that it has begun a command. */
  commandTimeoutMs: 15 * secondMs,
  /** Settings that a node names after a reload, and faults of its files. */
  reloadedMax: 200,
  /** Size of a node's answer to a question. */
  answerBytesMax: 1 * mebibyte,
} as const;

/** A node's measurements of the resources that it and its tasks use. */
export const statisticsLimits = {
  /** The time over which rates are measured, and for which they are used again. */
  sampleMs: 250,
  sampleAgeMaxMs: 10 * secondMs,
  /** Processes of a task that are listed. */
  processesShownMax: 100,
  /** Processes that are measured before others get their turn. */
  processesPerStep: 64,
} as const;

import { hourMs, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

export const nodeLimits = {
  eventsKept: 10,
  attributesMax: 2000,
  attributeLengthMax: 4096,
  /** Resources that one machine may report: far beyond any that exist, and short of absurd. */
  cpuMhzMax: 100_000_000,
  coresMax: 65_536,
  memoryMbMax: 1_000_000_000,
  diskMbMax: 1_000_000_000_000,
  networksMax: 256,
  driversMax: 256,
  /** Of what a node says of a driver, in explanations and warnings. */
  driverReasonLengthMax: 200,
  hostVolumesMax: 1024,
  hostVolumePathLengthMax: 4096,
  /** Makes of devices, and pieces of all makes together. */
  devicesMax: 256,
  deviceInstancesMax: 1024,
  deviceAttributesMax: 256,
  reservedPortsLengthMax: 4096,
  heartbeatTtlMinMs: 10 * secondMs,
  heartbeatGraceMs: 10 * secondMs,
  /** Heartbeats are spread so that the servers see at most this many in a secondMs. */
  heartbeatsPerSecondMax: 50,
  /** After a change of leader every node gets this long. */
  heartbeatFailoverTtlMs: 5 * minuteMs,
  /** A missed heartbeat that could not be written down is taken up again after this time. */
  missedRetryMs: 1 * secondMs,
  registrationRetryMs: 15 * secondMs,
  /** How long a node waits for an answer to its heartbeat before it turns to another server. */
  answerTimeoutMs: 5 * secondMs,
  allocationsPollWaitMs: 5 * minuteMs,
  statusBatchDelayMs: 200,
  statusBatchSizeMax: 1000,
  terminalAllocationsKept: 50,
  /** A failed write to the disk of a node is tried again after this time. */
  saveRetryMs: 5 * secondMs,
  /** Whether allocations have run for long enough is looked at this often, as clocks may jump. */
  runDeadlineRecheckMs: 1 * minuteMs,
  /**
   * Where users of allocations come from: beyond what Linux systems give to users, services,
   * containers and machines by themselves, and short of the numbers that some take for negative.
   */
  uidRange: { start: 1_879_048_192, count: 2 ** 20 },
  /** Labels that say why a node is drained. */
  drainMetaMax: 64,
  drainMetaTextLengthMax: 512,
  drainDeadlineMaxMs: 100 * 24 * hourMs,
  /** Draining nodes are looked at this often at most. */
  drainPassMs: 1 * secondMs,
  /** How long one look may hold others up. */
  drainSliceMs: 5,
  /** Deadlines are looked at this often at least, as the machine's clock may jump. */
  drainRecheckMs: 1 * minuteMs,
  /** How long a node may take to say that it has begun what it was told to do. */
  commandTimeoutMs: 15 * secondMs,
  /** A node's answer to one question. */
  answerBytesMax: 1 * mebibyte,
} as const;

/** A node's figures of the use of its resources by itself and by tasks. */
export const statisticsLimits = {
  /** Of what passes in this time, rates are made, and for how long they are used again. */
  sampleMs: 250,
  sampleAgeMaxMs: 10 * secondMs,
  /** Processes of a task that are shown one by one. */
  processesShownMax: 100,
  /** Processes that are looked at before others get their turn. */
  processesPerStep: 64,
} as const;

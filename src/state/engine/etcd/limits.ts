import { kibibyte, mebibyte, minuteMs, secondMs } from '../../../base/units.ts';

/** Bounds of the etcd engine. Times in etcd's own answers are whole seconds. */
export const etcdLimits = {
  /** Time from the last renewal of the leader key's lease to its end. */
  leaseTtlMs: 10 * secondMs,
  /** Time for which a server is listed after the last renewal of its own lease. */
  memberTtlMs: 20 * secondMs,
  memberBeatMs: 5 * secondMs,
  /** Servers in the list. */
  membersMax: 64,
  /** Between two renewals of the lease, two attempts to lead, or two looks at the head. */
  beatMs: 3 * secondMs,
  /** A server that has let others lead tries again after this time. */
  restMs: 5 * secondMs,
  /** A free leader key is tried for after a random part of this time. A named successor tries at once. */
  campaignJitterMs: 50,
  /** The time that a named successor has to take the leader key. Then every server may. */
  successionMs: 1 * secondMs,
  /** One request to etcd. */
  callMs: 5 * secondMs,
  /** The log can be read within this time, or the start goes on without it. */
  startMs: 10 * secondMs,
  /** A start begins anew with a newer snapshot so many times at most, if the log is cut while it reads. */
  startCutsMax: 10,
  /** The longest wait of a starting server for a leader. */
  electMs: 15 * secondMs,
  /** An append without an answer is settled within this time, or its outcome stays unknown. */
  settleMs: 15 * secondMs,
  /** Between two attempts to settle an append, or to send a part again. */
  retryMs: 250,
  /** A value of etcd. A request to etcd has at most 1.5 MiB by default. */
  valueBytes: 1 * mebibyte,
  /** A batch from this size on is compressed, once every server reads that. */
  packedBytesMin: 1 * kibibyte,
  /** Parts of a batch that may exist. A larger batch is refused. */
  partsMax: 256,
  /** Keys that one request for a range of the log names at most. */
  keysPerRange: 16,
  /** Keys without their values that one request names at most. */
  namesPerRange: 1_000,
  /** An answer of etcd. */
  answerBytes: 64 * mebibyte,
  /** The quota of the database that etcd has unless told otherwise. */
  quotaBytes: 2_048 * mebibyte,
  /** Shares of the quota from which the log warns, and from which new work is refused. */
  warnShare: 0.6,
  fullShare: 0.85,
  /** Between two looks at the size of the database. */
  statusMs: 30 * secondMs,
  /** History of etcd that is kept for readers. */
  historyMs: 5 * minuteMs,
  /** Between two attempts to reach an endpoint or to open a watch again. */
  reconnectMs: 1 * secondMs,
  /** Between two keepalives of an idle connection, and the time for their answer. */
  pingMs: 10 * secondMs,
  pingAnswerMs: 5 * secondMs,
  /** A part of a snapshot, or a batch that is compressed, is no larger than this. */
  partBytesMax: 256 * mebibyte,
  /** A log entry's heading. */
  headingBytesMax: 4 * kibibyte,
} as const;

/** The bounds, as tests may change them. */
export type EtcdLimits = { readonly [Name in keyof typeof etcdLimits]: number };

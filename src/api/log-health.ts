import { formatDuration, nanosecondsPerMillisecond } from '../base/duration.ts';
import { limits } from '../model/limits.ts';
import type { LogHealth } from '../state/log-health.ts';
import type { Gauges } from './metrics.ts';

/** The health of the log in the health of the agent. */
export function logHealthOf(health: LogHealth) {
  const { term, contactMs, leaseAgeMs, store } = health;
  const message = logFaultOf(health);
  return {
    ok: message === undefined,
    message: message ?? (store === undefined ? 'ok; what the store says is unknown' : 'ok'),
    Term: term,
    ...(contactMs !== undefined && { LastContactMs: Math.round(contactMs) }),
    ...(leaseAgeMs !== undefined && { LeaseAgeMs: Math.round(leaseAgeMs) }),
    ...(store && {
      Store: {
        Version: store.version,
        Bytes: store.bytes,
        BytesInUse: store.bytesInUse,
        QuotaBytes: store.quotaBytes,
        Full: store.isFull,
      },
    }),
  };
}

/** The fault of the log; `undefined`: it has none. */
export function logFaultOf({
  contactMs,
  isUnconfirmed,
  store,
  fault,
}: LogHealth): string | undefined {
  if (fault !== undefined) return fault.message;
  if (contactMs === undefined) return 'the log has not answered yet';
  const since = formatDuration(Math.round(contactMs / 1000) * 1000 * nanosecondsPerMillisecond);
  if (isUnconfirmed) {
    return `the log has not answered since this server started: it shows its copy of the state, as of ${since} ago`;
  }
  if (contactMs > limits.servers.logSilentMs) return `the log has not answered for ${since}`;
  if (store?.isOutOfSpace) return 'the store of the log takes no writes: it has reached its quota';
  if (store?.isFull) return 'the store of the log is nearly full: new jobs are refused';
  return undefined;
}

/** Metrics of the log. An unknown value has no sample. */
export function logGauges(health: () => LogHealth): Gauges {
  const seconds = (ms: number | undefined) => ms && ms / 1000;
  const bit = (isSo: boolean | undefined) => (isSo === undefined ? undefined : Number(isSo));
  return {
    log_term: { help: 'Newest term of a leader that is known.', read: () => health().term },
    log_contact_seconds: {
      help: 'Time since the log last answered.',
      read: () => seconds(health().contactMs),
    },
    log_lease_age_seconds: {
      help: 'Time since the leader renewed its lease; only on the leader.',
      read: () => seconds(health().leaseAgeMs),
    },
    log_unconfirmed: {
      help: '1 while this server shows its copy of the state, as it has not read the log since its start.',
      read: () => Number(health().isUnconfirmed),
    },
    log_diverged: {
      help: '1 when the log is another one than this server has applied.',
      read: () => Number(health().isDiverged),
    },
    log_appends_total: {
      help: 'Appends of this server.',
      isCounter: true,
      read: () => health().appends.count,
    },
    log_append_seconds_total: {
      help: 'Time of these appends. Its rate by that of their number is the mean latency.',
      isCounter: true,
      read: () => health().appends.totalMs / 1000,
    },
    log_outcomes_unknown_total: {
      help: 'Appends of which nobody knows whether they were done.',
      isCounter: true,
      read: () => health().appends.unknown,
    },
    etcd_db_bytes: {
      help: 'Size of the database of etcd, which its quota counts.',
      read: () => health().store?.bytes,
    },
    etcd_db_in_use_bytes: {
      help: 'The same without what a defragmentation would free.',
      read: () => health().store?.bytesInUse,
    },
    etcd_quota_bytes: {
      help: 'Quota of the database of etcd.',
      read: () => health().store?.quotaBytes,
    },
    etcd_out_of_space: {
      help: '1 when etcd takes no writes, since its database has reached its quota.',
      read: () => bit(health().store?.isOutOfSpace),
    },
    etcd_full: {
      help: '1 when new jobs are refused, since the database of etcd is nearly full.',
      read: () => bit(health().store?.isFull),
    },
  };
}

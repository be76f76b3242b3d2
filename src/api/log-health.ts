import { formatDuration, nanosecondsPerMillisecond } from '../base/duration.ts';
import { limits } from '../model/limits.ts';
import type { LogHealth } from '../state/log-health.ts';

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
  obstacle,
}: LogHealth): string | undefined {
  if (fault !== undefined) return fault.message;
  if (contactMs === undefined) return 'the log has not answered yet';
  const why = obstacle === undefined ? '' : `: ${obstacle.message}`;
  const since = formatDuration(Math.round(contactMs / 1000) * 1000 * nanosecondsPerMillisecond);
  if (isUnconfirmed) {
    return `the log has not answered since this server started: it shows its copy of the state, as of ${since} ago${why}`;
  }
  if (contactMs > limits.servers.logSilentMs) return `the log has not answered for ${since}${why}`;
  if (store?.isOutOfSpace)
    return `the store of the log takes no writes: it has reached its quota; ${store.member} is the fullest`;
  if (store?.isFull)
    return `the store of the log is nearly full at ${store.member}: new jobs are refused`;
  return undefined;
}

import { minuteMs, secondMs } from '../../base/units.ts';

/** Between the servers of a cluster. */
export const serversLimits = {
  /** How long another server has to answer a request, beyond the time that the request may wait. */
  askMs: 60 * secondMs,
  /** How long an answer of the leader waits until this server shows what it wrote. */
  catchUpMs: 5 * secondMs,
  /** A server that has had no contact for so long does not answer `stale` either. */
  staleMaxMs: 5 * minuteMs,
} as const;

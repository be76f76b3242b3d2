import { formatInstant } from '../base/instant.ts';
import type { Clock } from '../base/ports.ts';
import type { ErrorCode } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Caller } from '../model/permission/caller.ts';
import { describePermission } from '../model/permission/permission.ts';
import type { Observation } from './pipeline.ts';

/** The destination of the audit log. Lines include their newline. */
export interface AuditSink {
  write(line: string): void;
}

export interface AuditOptions {
  readonly sink: AuditSink;
  /** `writes`: possible changes, and all refusals. */
  readonly events: 'all' | 'writes';
}

/**
 * The audit log: one JSON object per line and request, with caller, action, origin and decision. It
 * contains no bodies, queries or secrets.
 */
export function auditTo({ sink, events }: AuditOptions, clock: Clock) {
  return (observation: Observation): void => {
    const { request, status, trail } = observation;
    if (trail.forwardedTo !== undefined && trail.code === undefined) return;
    // An opened stream (101) may carry changes.
    const isRead = request.method === 'GET' && status < 400 && status !== 101;
    if (events === 'writes' && isRead) return;
    sink.write(`${JSON.stringify(entryOf(observation, clock.nowMs()))}\n`);
  };
}

/** A signal that changes the agent as a request does. */
export interface AuditedSignal {
  readonly signal: 'SIGHUP';
  /** The code of the refusal. */
  readonly code?: ErrorCode | undefined;
  readonly made?: Readonly<Record<string, string>> | undefined;
}

/** The line of a signal. Only users of the machine can send one. */
export function signalLine({ signal, code, made }: AuditedSignal, nowMs: number): string {
  const entry = {
    time: formatInstant(nowMs),
    method: signal,
    caller: { kind: 'signal' },
    decision: 'allowed',
    ...(code !== undefined && { code }),
    ...(made !== undefined && { made }),
  };
  return `${JSON.stringify(entry)}\n`;
}

function entryOf(
  { request, route, status, durationMs, requestId, trail }: Observation,
  nowMs: number,
) {
  const { caller, permission, isAllowed, namespace, code, made, isRepeat } = trail;
  return {
    time: formatInstant(nowMs),
    remote: request.remoteAddress ?? '',
    method: request.method,
    path: request.path.slice(0, limits.audit.textLengthMax),
    ...(route !== undefined && { route: route.path }),
    ...(namespace !== undefined && { namespace }),
    caller: whoIs(caller),
    ...(permission !== undefined && { permission: describePermission(permission) }),
    decision: decisionOf(isAllowed, status),
    status,
    ...(code !== undefined && { code }),
    ...(made !== undefined && { made }),
    ...(isRepeat && { repeat: true }),
    ...(requestId !== undefined && { request: requestId }),
    durationMs: Math.round(durationMs * 1000) / 1000,
  };
}

/**
 * A caller with the permission may still be refused: for a second bootstrap, or a page of a foreign
 * site.
 */
function decisionOf(isAllowed: boolean | undefined, status: number): string {
  if (isAllowed === false) return 'denied';
  return isAllowed === undefined || status === 403 ? 'refused' : 'allowed';
}

function whoIs(caller: Caller | undefined) {
  if (caller === undefined) return { kind: 'unknown' };
  const { kind } = caller;
  switch (kind) {
    case 'token':
      return {
        kind,
        accessor: caller.accessor,
        namespace: caller.namespace,
        partition: caller.partition,
      };
    case 'anonymous':
      return { kind, accessor: caller.accessor };
    case 'workload': {
      const { namespace, job, group, task, allocation } = caller;
      return { kind, namespace, job, group, task, allocation };
    }
    case 'node':
      return { kind, node: caller.nodeId };
    default:
      return { kind };
  }
}

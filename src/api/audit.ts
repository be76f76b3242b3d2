import { formatInstant } from '../base/instant.ts';
import type { Clock } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import type { Caller } from '../model/permission/caller.ts';
import { describePermission } from '../model/permission/permission.ts';
import type { Observation } from './pipeline.ts';

/** Where the lines of the audit log go. A line is whole, with its newline. */
export interface AuditSink {
  write(line: string): void;
}

export interface AuditOptions {
  readonly sink: AuditSink;
  /** `writes`: what may change something, and everything that was refused. */
  readonly events: 'all' | 'writes';
}

/**
 * The audit log: one JSON object a line for each request, with who asked, for what, from where,
 * and how it was decided. No bodies, no query and no secrets are in it.
 */
export function auditTo({ sink, events }: AuditOptions, clock: Clock) {
  return (observation: Observation): void => {
    const { request, status } = observation;
    // A stream that was opened (101) may carry what changes something.
    const isRead = request.method === 'GET' && status < 400 && status !== 101;
    if (events === 'writes' && isRead) return;
    sink.write(`${JSON.stringify(entryOf(observation, clock.nowMs()))}\n`);
  };
}

function entryOf(
  { request, route, status, durationMs, requestId, trail }: Observation,
  nowMs: number,
) {
  const { caller, permission, isAllowed, namespace, code, made } = trail;
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
    ...(requestId !== undefined && { request: requestId }),
    durationMs: Math.round(durationMs * 1000) / 1000,
  };
}

/** Who had the permission may be refused for another reason: a second bootstrap, a page of another site. */
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
        ...{ kind, accessor: caller.accessor },
        ...{ namespace: caller.namespace, partition: caller.partition },
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

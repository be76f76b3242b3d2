import { limits } from '../limits.ts';
import type { Identity } from '../task/identity.ts';

/** The identity that every task has, even if its job has no block for it. */
export const defaultIdentityName = 'default';

/** The audience of tokens for this API. Tokens for other audiences are refused. */
export const apiAudience = 'roster';

/**
 * The signed identity of a task. Times are Unix seconds. Tokens of earlier versions may have no `exp`, and
 * are valid as long as their allocation runs. Source: docs/behaviour/job-specification.md#identities; RFC 7519 §4.1.
 */
export interface WorkloadClaims {
  readonly iss?: string;
  /** `<region>:<namespace>:<job>:<group>:<task>:<identity>` */
  readonly sub: string;
  readonly aud?: readonly string[];
  readonly exp?: number;
  readonly nbf: number;
  readonly iat: number;
  readonly jti: string;
  readonly roster_namespace: string;
  /** For a child, the job that it was made from: rules for that job apply to its children. */
  readonly roster_job_id: string;
  readonly roster_allocation_id: string;
  readonly roster_group: string;
  readonly roster_task: string;
  readonly roster_identity: string;
}

export interface Workload {
  readonly region: string;
  readonly issuer: string | undefined;
  readonly namespace: string;
  readonly job: string;
  readonly allocation: string;
  readonly group: string;
  readonly task: string;
  /** The name of the identity; `default` is the default identity. */
  readonly name: string;
  /** The identity's block in the job, if there is one. */
  readonly identity: Identity | undefined;
}

/**
 * The longest lifetime of a token, in seconds; a token ends with its allocation in any case. A token in an
 * environment variable of a running process cannot be renewed, so it gets the longest possible lifetime.
 */
export function lifetimeSeconds({ name, identity }: Pick<Workload, 'name' | 'identity'>): number {
  const { ttlMinMs, ttlDefaultMs, ttlMaxMs } = limits.identity;
  const given = name === defaultIdentityName ? 0 : (identity?.TTL ?? 0) / 1e6;
  const absent = identity?.Env ? ttlMaxMs : ttlDefaultMs;
  return Math.ceil(Math.min(Math.max(given || absent, ttlMinMs), ttlMaxMs) / 1000);
}

/** Claims that are always present. Extra claims of a job cannot replace them. */
const reserved = new Set(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti']);

export const isReservedClaim = (name: string): boolean =>
  reserved.has(name) || name.startsWith('roster_');

export function claimsFor(workload: Workload, nowMs: number, jti: string): WorkloadClaims {
  const { region, issuer, namespace, job, allocation, group, task, name, identity } = workload;
  const iat = Math.floor(nowMs / 1000);
  const lifetime = lifetimeSeconds(workload);
  const given = identity?.Audience ?? [];
  const aud = name === defaultIdentityName ? [...new Set([apiAudience, ...given])] : given;
  const extra = Object.entries(identity?.ExtraClaims ?? {})
    .filter(([claim]) => !isReservedClaim(claim))
    .slice(0, limits.identity.extraClaimsMax);
  return {
    ...Object.fromEntries(extra),
    ...(issuer !== undefined && { iss: issuer }),
    sub: [region, namespace, job, group, task, name].join(':'),
    ...(aud.length > 0 && { aud }),
    exp: iat + lifetime,
    nbf: iat,
    iat,
    jti,
    roster_namespace: namespace,
    roster_job_id: job,
    roster_allocation_id: allocation,
    roster_group: group,
    roster_task: task,
    roster_identity: name,
  };
}

/** Whether claims that this cluster signed are for its API, at this time. */
export function areCurrent(claims: WorkloadClaims, nowMs: number): boolean {
  const skewMs = limits.identity.clockSkewMs;
  return (
    claims.aud?.includes(apiAudience) === true &&
    (claims.exp === undefined || nowMs < claims.exp * 1000) &&
    nowMs >= claims.nbf * 1000 - skewMs
  );
}

import { limits } from '../limits.ts';
import type { Identity } from '../task/identity.ts';

/** The identity that every task has, whether or not its job says anything of it. */
export const defaultIdentityName = 'default';

/** The audience of tokens that this API takes. Tokens for other audiences do not open it. */
export const apiAudience = 'roster';

/**
 * Who a task is, signed. Times are Unix seconds. Tokens of earlier versions may have no `exp`, and
 * hold as long as their allocation runs. Source: docs/behaviour/job-specification.md#identities;
 * RFC 7519 §4.1.
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
  /** Of a child, the job that it was made of, since rules for that job hold for its children. */
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
  /** Its name; `default` is the default one. */
  readonly name: string;
  /** The identity as the job configures it, if it does. */
  readonly identity: Identity | undefined;
}

/**
 * How long a token lives at most, in seconds; it ends with its allocation in any case. A variable of
 * a process that runs cannot be renewed, so a token that is in one lives as long as any may.
 */
export function lifetimeSeconds({ name, identity }: Pick<Workload, 'name' | 'identity'>): number {
  const { ttlMinMs, ttlDefaultMs, ttlMaxMs } = limits.identity;
  const given = name === defaultIdentityName ? 0 : (identity?.TTL ?? 0) / 1e6;
  const absent = identity?.Env ? ttlMaxMs : ttlDefaultMs;
  return Math.ceil(Math.min(Math.max(given || absent, ttlMinMs), ttlMaxMs) / 1000);
}

/** Claims that are always there. No claim of the job's own replaces them. */
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

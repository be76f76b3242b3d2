import type { ErrorCode } from '../model/errors.ts';
import type { Caller } from '../model/permission/caller.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Request } from './http.ts';
import type { Reply, Route } from './route.ts';

/** The pipeline's notes on a request, for the audit log. They contain no secrets. */
export interface Trail {
  /** Absent if the request ended before the caller was known, or the secret is unknown. */
  caller?: Caller;
  /** The required permission, and whether the caller has it. */
  permission?: Permission;
  isAllowed?: boolean;
  namespace?: string;
  /** The code of the refusal. */
  code?: ErrorCode;
  /** Names and ids from the handler, such as the token made by a login. */
  made?: Readonly<Record<string, string>>;
  /** Ids of the evaluations that it has made, for traces. */
  evaluations?: readonly string[];
  /** It repeats a request that was run before, and had no effect. */
  isRepeat?: boolean;
  /** The trace that it belongs to, if any: metrics show it beside its duration. */
  traceId?: string;
  /** The server that answered it; there it is audited. */
  forwardedTo?: string;
}

/** An answered request, for metrics and logs. `failure` is set for bugs only. */
export interface Observation {
  readonly request: Request;
  readonly route: Route | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly failure?: unknown;
  readonly requestId?: string;
  readonly trail: Trail;
}

/** A request in the pipeline. */
export interface Seen {
  readonly request: Request;
  route: Route | undefined;
  readonly startMs: number;
  readonly trail: Trail;
}

/** Notes what a write has made. */
export function noteReply(trail: Trail, { made, value }: Reply): void {
  if (made !== undefined) trail.made = made;
  const { EvalID, EvalIDs } = (value ?? {}) as Readonly<Record<'EvalID' | 'EvalIDs', unknown>>;
  const ids = [EvalID, EvalIDs].flat().filter((id) => typeof id === 'string' && id !== '');
  if (ids.length > 0) trail.evaluations = ids as string[];
}

import type { ErrorCode } from '../model/errors.ts';
import type { Caller } from '../model/permission/caller.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Request } from './http.ts';
import type { Route } from './route.ts';

/** What the pipeline learns of a request on its way, for the audit log. Never a secret. */
export interface Trail {
  /** Absent: the request ended before anybody asked who sends it, or nobody has its secret. */
  caller?: Caller;
  /** The permission that the route needs, and whether the caller has it. */
  permission?: Permission;
  isAllowed?: boolean;
  namespace?: string;
  /** Why it was refused. */
  code?: ErrorCode;
  /** What the handler adds: the token that a login made. */
  made?: Readonly<Record<string, string>>;
}

/** A request under way. */
export interface Seen {
  readonly request: Request;
  route: Route | undefined;
  readonly startMs: number;
  readonly trail: Trail;
}

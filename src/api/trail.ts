import type { ErrorCode } from '../model/errors.ts';
import type { Caller } from '../model/permission/caller.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Request } from './http.ts';
import type { Route } from './route.ts';

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
  /** It repeats a request that was run before, and had no effect. */
  isRepeat?: boolean;
  /** The server that answered it; there it is audited. */
  forwardedTo?: string;
}

/** A request in the pipeline. */
export interface Seen {
  readonly request: Request;
  route: Route | undefined;
  readonly startMs: number;
  readonly trail: Trail;
}

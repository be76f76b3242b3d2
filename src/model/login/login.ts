/** A login in a browser that has begun. Source: docs/behaviour/access-control.md#logging-in-and-out. */
export interface OidcSession {
  /** The fingerprint of the `state` that the browser brings back. */
  readonly ID: string;
  /** The secrets and texts of the login, sealed. */
  readonly Sealed: string;
  /** Unix milliseconds. */
  readonly ExpireMs: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export const loginLimitKinds = ['address', 'method', 'start'] as const;
export type LoginLimitKind = (typeof loginLimitKinds)[number];

/** Notes for the next leader that an address or an auth method has no attempts left. */
export interface UsedUpLimit {
  readonly Kind: LoginLimitKind;
  /** The fingerprint of the address or of the method. */
  readonly Name: string;
  /** When no attempt was left, in Unix milliseconds. */
  readonly AtMs: number;
  /** Since when all attempts are there again, in Unix milliseconds. */
  readonly ExpireMs: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

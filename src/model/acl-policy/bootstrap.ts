import type { AclToken } from '../acl-token/acl-token.ts';

/**
 * Marks that the first token was made. The row's `ModifyIndex` is the reset index: a person who can write it
 * into the data directory may make another first token.
 * Source: docs/behaviour/access-control.md#the-first-token.
 */
export interface AclBootstrap {
  readonly AccessorID: AclToken['AccessorID'];
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

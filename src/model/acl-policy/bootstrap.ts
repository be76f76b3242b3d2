import type { AclToken } from '../acl-token/acl-token.ts';

/**
 * That the first token was made. The row's `ModifyIndex` is the reset index: whoever can write it
 * into the data directory may make another first token. Source: facts/registry.md §2.2.
 */
export interface AclBootstrap {
  readonly AccessorID: AclToken['AccessorID'];
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

import { refusal } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Caller } from '../permission/caller.ts';

/**
 * The answer to a write, for repetitions of its request.
 * Source: docs/contract/http.md#repeating-a-write.
 */
export interface KeptAnswer {
  /** Who asked. */
  readonly Accessor: string;
  /** Method and path of the endpoint, with the names of its parameters. */
  readonly Route: string;
  /** The `Idempotency-Key`. */
  readonly Key: string;
  /** Of path, query and body, keyed. */
  readonly Fingerprint: string;
  /** Of the answer; 0: the request was run, and its answer is not kept. */
  readonly Status: number;
  readonly Headers: Readonly<Record<string, string>>;
  /** The body, sealed, since it may hold secrets; empty without a body. */
  readonly Sealed: string;
  /** Unix milliseconds. */
  readonly ExpireMs: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** Names the caller of a request; unique among all kinds of callers. */
export function accessorOf(caller: Caller): string {
  switch (caller.kind) {
    case 'anonymous':
    case 'token':
      return caller.accessor;
    case 'node':
      return `node ${caller.nodeId}`;
    case 'workload':
      return `task ${caller.allocation} ${caller.task}`;
    case 'introduction':
      return `introduction ${caller.id}`;
    case 'unrestricted':
      return '';
  }
}

/** @throws RosterError `malformed-request` if the text cannot be an `Idempotency-Key` */
export function checkIdempotencyKey(key: string): string {
  const { keyLengthMax } = limits.idempotency;
  if (key.length <= keyLengthMax && /^[\x21-\x7e]+$/.test(key)) return key;
  const reason = `The header Idempotency-Key must have 1 to ${keyLengthMax} visible ASCII characters.`;
  throw refusal('malformed-request', { reason });
}

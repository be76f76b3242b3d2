import type { introductionTokenEndpoints } from '../contract/introduction-token.ts';
import type {
  IntroductionRequest,
  ShownIntroduction,
} from '../model/introduction-token/introduction-token.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type { IntroductionRequest, ShownIntroduction };

/** Tokens that admit new nodes. */
export type IntroductionTokens = ReturnType<typeof introductionTokensOf>;

export function introductionTokensOf(requester: Requester) {
  const { read, write } = callsOf<typeof introductionTokenEndpoints>(requester);
  return {
    list: (options: ListOptions = {}) =>
      read('GET /v1/node/introduction-tokens', {}, options, listQuery(options)),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/node/introduction-token/:id', { id }, options),
    /** This answer is the only one with `SecretID`. */
    create: (request: IntroductionRequest, options?: CallOptions) =>
      write('PUT /v1/node/introduction-token', {}, options, { body: request }),
    /** Nodes that it admitted stay. */
    revoke: (id: string, options?: CallOptions) =>
      write('DELETE /v1/node/introduction-token/:id', { id }, options),
  };
}

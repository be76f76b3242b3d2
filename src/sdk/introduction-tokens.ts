import type {
  IntroductionRequest,
  ShownIntroduction,
} from '../model/introduction-token/introduction-token.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type { IntroductionRequest, ShownIntroduction };

/** What brings new nodes in. */
export interface IntroductionTokens {
  list(options?: ListOptions): Promise<Answer<readonly ShownIntroduction[]>>;
  read(id: string, options?: ReadOptions): Promise<Answer<ShownIntroduction>>;
  /** `SecretID` is told here and nowhere else. */
  create(
    request: IntroductionRequest,
    options?: CallOptions,
  ): Promise<Answer<ShownIntroduction & { readonly SecretID: string }>>;
  /** Nodes that it has brought in stay. */
  revoke(id: string, options?: CallOptions): Promise<Answer<boolean>>;
}

export const introductionTokensOf = (requester: Requester): IntroductionTokens => ({
  list: (options = {}) =>
    requester.read('/v1/node/introduction-tokens', options, listQuery(options)),
  read: (id, options) => requester.read(path`/v1/node/introduction-token/${id}`, options),
  create: (request, options) =>
    requester.write('PUT', '/v1/node/introduction-token', options, request),
  revoke: (id, options) =>
    requester.write('DELETE', path`/v1/node/introduction-token/${id}`, options),
});

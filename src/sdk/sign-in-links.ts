import type { signInLinkEndpoints } from '../contract/sign-in-link.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

export type SignInLinks = ReturnType<typeof signInLinksOf>;

export function signInLinksOf(requester: Requester) {
  const { write } = callsOf<typeof signInLinkEndpoints>(requester);
  return {
    /** A link with the rights of the client's token; only a token can make one. */
    create: (request: { readonly LoopbackOnly?: boolean } = {}, options?: CallOptions) =>
      write('POST /v1/ui/link', {}, options, { body: request }),
    /** The token of a link, which can be used once. */
    use: (Secret: string, options?: CallOptions) =>
      write('POST /v1/ui/sign-in', {}, options, { body: { Secret } }),
    /** Deletes the client's own token, which has to come from a link or a login. */
    signOut: (options?: CallOptions) => write('POST /v1/ui/sign-out', {}, options),
  };
}

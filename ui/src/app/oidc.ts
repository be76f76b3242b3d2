/**
 * Signing in by an auth method of the kind `oidc`: the browser goes to the provider, and comes back to
 * `sign-in/oidc` with a code that the server exchanges for a token.
 */
import type { PresentedAclToken } from '../../../src/model/acl-token/acl-token.ts';
import { uiBase } from '../base.ts';
import type { ShownProblem } from './problems.ts';
import { request, session } from './session.svelte.ts';
import { ofTab } from './stored.ts';

export interface SignInMethod {
  readonly Name: string;
  readonly DisplayName: string;
  readonly Type: string;
}

interface Started {
  readonly method: string;
  readonly nonce: string;
  readonly next: string;
  readonly remember: boolean;
}

const returnAddress = (): string => new URL('sign-in/oidc', uiBase).href;

/** The methods that a caller without a token may see; empty if the server keeps them to itself. */
export async function signInMethods(): Promise<readonly SignInMethod[]> {
  const question = { Resource: 'acl', Segment: '', Access: 'read' };
  const may = await request('internal/acl/authorize', { method: 'POST', body: [question] });
  if ((may.value as readonly { readonly Allow: boolean }[] | undefined)?.[0]?.Allow !== true)
    return [];
  const { value } = await request('acl/auth-methods', {});
  const methods = (value ?? []) as readonly SignInMethod[];
  return methods.filter(({ Type }) => Type === 'oidc');
}

/** Leaves the page for the provider. Returns the refusal if the server has no such method. */
export async function startOidc(
  method: string,
  { next, remember }: { readonly next: string; readonly remember: boolean },
): Promise<ShownProblem | undefined> {
  const nonce = randomText();
  const { value, problem } = await request('acl/oidc/auth-url', {
    method: 'POST',
    body: { AuthMethod: method, RedirectURI: returnAddress(), ClientNonce: nonce },
  });
  if (problem !== undefined) return problem;
  ofTab.write('oidc', JSON.stringify({ method, nonce, next, remember } satisfies Started));
  location.assign((value as { readonly AuthURL: string }).AuthURL);
  return undefined;
}

export type OidcEnd =
  | { readonly next: string; readonly problem?: undefined }
  | { readonly problem: ShownProblem };

/** Finishes the sign-in with what the provider has put into the address, and takes it out of there. */
export async function finishOidc(): Promise<OidcEnd> {
  const query = new URLSearchParams(location.search);
  history.replaceState(history.state, '', location.pathname);
  const started = takeStarted();
  const refused = query.get('error_description') ?? query.get('error');
  if (refused !== null) return { problem: { title: 'The provider refused', detail: refused } };
  if (started === undefined) {
    return {
      problem: {
        title: 'This sign-in was not begun here',
        detail: 'Begin again from the sign-in page of this tab.',
      },
    };
  }
  const { value, problem } = await request('acl/oidc/callback', {
    method: 'POST',
    body: {
      AuthMethod: started.method,
      ClientNonce: started.nonce,
      State: query.get('state') ?? '',
      Code: query.get('code') ?? '',
      ...(query.has('iss') && { Issuer: query.get('iss') }),
    },
  });
  if (problem !== undefined) return { problem };
  const { SecretID } = value as PresentedAclToken & { readonly SecretID: string };
  const refusal = await session.signIn(SecretID, { remember: started.remember });
  return refusal === undefined ? { next: started.next } : { problem: refusal };
}

function takeStarted(): Started | undefined {
  const text = ofTab.read('oidc');
  ofTab.write('oidc', undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Started);
}

function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

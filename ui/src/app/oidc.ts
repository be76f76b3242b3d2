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
  /** Of the request to the provider, whose answer repeats it. */
  readonly state: string;
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
  if (problem !== undefined) {
    const words = `The method has to be of the type oidc, and to allow the redirect to ${returnAddress()}.`;
    return problem.status === 403 ? { ...problem, detail: `${problem.detail} ${words}` } : problem;
  }
  const { AuthURL } = value as { readonly AuthURL: string };
  const state = new URL(AuthURL).searchParams.get('state') ?? '';
  ofTab.write('oidc', JSON.stringify({ method, nonce, state, next, remember } satisfies Started));
  location.assign(AuthURL);
  return undefined;
}

export interface OidcEnd {
  /** The page that the reader wanted. */
  readonly next: string;
  /** Absent: signed in. */
  readonly problem?: ShownProblem | undefined;
}

/** Finishes the sign-in with what the provider has put into the address, and takes it out of there. */
export async function finishOidc(): Promise<OidcEnd> {
  const query = new URLSearchParams(location.search);
  history.replaceState(history.state, '', location.pathname);
  const started = takeStarted();
  if (started === undefined || started.state !== query.get('state')) return notOfHere;
  const { next } = started;
  // The address may come from anybody; only the answer to what was begun here has words of the provider.
  const refused = query.get('error_description') ?? query.get('error');
  if (refused !== null)
    return { next, problem: { title: 'The provider refused', detail: refused } };
  const { value, problem } = await request('acl/oidc/callback', {
    method: 'POST',
    body: {
      AuthMethod: started.method,
      ClientNonce: started.nonce,
      State: started.state,
      Code: query.get('code') ?? '',
      ...(query.has('iss') && { Issuer: query.get('iss') }),
    },
  });
  if (problem !== undefined) return { next, problem };
  const { SecretID } = value as PresentedAclToken & { readonly SecretID: string };
  return { next, problem: await session.signIn(SecretID, { remember: started.remember }) };
}

const notOfHere: OidcEnd = {
  next: '/',
  problem: {
    title: 'This is not the answer to a sign-in that was begun here',
    detail: 'Begin again on this page. The answer of the provider was thrown away.',
  },
};

function takeStarted(): Started | undefined {
  const text = ofTab.read('oidc');
  ofTab.write('oidc', undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Started);
}

function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

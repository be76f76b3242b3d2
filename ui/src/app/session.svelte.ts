/**
 * Whose token the page uses. The token stays in memory, or in the storage of the tab if the reader asks for that; it is
 * never in an address, and never in a storage that outlives the tab. Signing out reaches every tab of this cluster.
 */
import type { PresentedAclToken } from '../../../src/model/acl-token/acl-token.ts';
import { apiBase } from '../base.ts';
import { keptForms } from './kept-forms.ts';
import { isProblem, type Problem, type ShownProblem } from './problems.ts';
import { channelName, ofTab } from './stored.ts';

export type Session =
  | { readonly kind: 'starting' }
  /** Without a token. `isWelcome`: the anonymous token may see something, or the reader goes on without. */
  | { readonly kind: 'anonymous'; readonly isWelcome: boolean }
  | { readonly kind: 'signed-in'; readonly self: PresentedAclToken }
  /** Access control is off, so everybody may do everything. */
  | { readonly kind: 'open' };

let current = $state.raw<Session>({ kind: 'starting' });
let token: string | undefined;
/** Why the reader has to sign in again. */
let ended = $state.raw<string | undefined>();
let generation = $state(0);
const channel = new BroadcastChannel(channelName);

export const session = {
  get current(): Session {
    return current;
  },
  /** The secret, for the connection alone. */
  get token(): string | undefined {
    return token;
  },
  /** Counts the tokens, so that others can begin again with each. */
  get generation(): number {
    return generation;
  },
  get ended(): string | undefined {
    return ended;
  },
  get mustSignIn(): boolean {
    return current.kind === 'anonymous' && !current.isWelcome;
  },
  stayAnonymous(): void {
    current = { kind: 'anonymous', isWelcome: true };
  },

  /** `undefined`: signed in. */
  async signIn(secret: string, { remember = false } = {}): Promise<ShownProblem | undefined> {
    const answer = await readSelf(secret);
    if (answer.problem !== undefined) return answer.problem;
    ofTab.write('token', remember ? secret : undefined);
    ended = undefined;
    const self = answer.value as PresentedAclToken;
    keptForms.enter(self.AccessorID);
    use(secret, { kind: 'signed-in', self });
    return undefined;
  },

  /** Ends the session in this tab and in all others. Tokens that a login or a link has made are deleted. */
  async signOut(): Promise<void> {
    let said = 'You have signed out.';
    if (current.kind === 'signed-in' && token !== undefined && mayBeOfLogin(current.self)) {
      const { problem } = await request('ui/sign-out', { method: 'POST', token });
      const isAlive = problem !== undefined && !endsAnyway.has(problem.code ?? '');
      if (isAlive) said += ' The server could not delete the token: it ends when it expires.';
    }
    channel.postMessage({ kind: 'sign-out' });
    keptForms.forgetAll();
    forget(said);
  },

  /** The server said that the token is no longer good. Without a token there is nothing to end. */
  end(why: string): void {
    if (token !== undefined) forget(why);
  },
};

/** Without a leader the server may be behind, and knows all but the newest tokens. */
async function readSelf(secret: string | undefined): Promise<Answered> {
  const path = 'acl/token/self';
  const answer = await request(path, { token: secret });
  if (answer.problem?.code !== 'no-leader') return answer;
  return request(`${path}?stale=true`, { token: secret });
}

/** Of refusals to sign out: somebody has made the token by hand, or it is gone. */
const endsAnyway: ReadonlySet<string> = new Set(['token-not-from-login', 'token-not-found']);

/** Other tokens with an end are kept: the server refuses to delete them. */
const mayBeOfLogin = ({ AuthMethod, ExpirationTime }: PresentedAclToken): boolean =>
  (AuthMethod ?? '') !== '' || ExpirationTime !== undefined;

function use(secret: string | undefined, next: Session): void {
  token = secret;
  current = next;
  generation += 1;
  for (const listener of listeners) listener();
}

const listeners: (() => void)[] = [];

/** `listener` hears of each other token. */
export function onToken(listener: () => void): void {
  listeners.push(listener);
}

function forget(why: string): void {
  ofTab.write('token', undefined);
  ended = why;
  use(undefined, { kind: 'anonymous', isWelcome: false });
}

channel.addEventListener('message', ({ data }: MessageEvent<{ readonly kind?: string }>) => {
  if (data?.kind !== 'sign-out') return;
  keptForms.forgetAll();
  forget('You have signed out in another tab.');
});

/** Takes the secret of a link that signs in once out of the address, before anything else can read it. */
export function takeLink(): string | undefined {
  const link = /^#link=(.+)$/.exec(location.hash)?.[1];
  if (link === undefined) return undefined;
  history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  return decodeURIComponent(link);
}

/** Exchanges the secret of a link for a token that expires. */
export async function signInByLink(secret: string): Promise<ShownProblem | undefined> {
  const answer = await request('ui/sign-in', { method: 'POST', body: { Secret: secret } });
  if (answer.problem !== undefined) return answer.problem;
  const { SecretID } = answer.value as PresentedAclToken & { readonly SecretID: string };
  // The link works once, so a reload has to find the token.
  return session.signIn(SecretID, { remember: true });
}

/** @param isAclEnabled whether callers have to show a token */
export async function startSession(isAclEnabled: boolean): Promise<void> {
  if (!isAclEnabled) {
    use(undefined, { kind: 'open' });
    return;
  }
  const remembered = ofTab.read('token');
  if (remembered !== undefined) {
    const problem = await session.signIn(remembered, { remember: true });
    if (problem === undefined) return;
    if (problem.status === 403 || problem.status === 401) {
      ofTab.write('token', undefined);
      ended = 'Your token has expired, or was deleted.';
    } else if (problem.status === undefined || problem.code === 'no-leader') {
      // The server, or its leader, is away. The connection says so, and the token is tried again with it.
      token = remembered;
    }
  }
  await startAnonymous();
}

async function startAnonymous(): Promise<void> {
  const answer = await readSelf(undefined);
  // The reader, or the provider, may have been faster.
  if (current.kind !== 'starting') return;
  if (answer.problem?.code === 'acl-disabled') use(undefined, { kind: 'open' });
  else {
    const self = answer.value as PresentedAclToken | undefined;
    const isWelcome = self !== undefined && ended === undefined && hasRights(self);
    use(token, { kind: 'anonymous', isWelcome });
  }
}

const hasRights = (self: PresentedAclToken): boolean =>
  [
    self.Policies,
    self.Roles,
    self.ServiceIdentities,
    self.NodeIdentities,
    self.TemplatedPolicies,
  ].some((links) => (links?.length ?? 0) > 0);

interface Asked {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
}

type Answered =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: ShownProblem };

/** A request outside of the connection, which has its token from the session. */
export async function request(
  path: string,
  { method = 'GET', token, body }: Asked,
): Promise<Answered> {
  try {
    const answer = await fetch(new URL(path, apiBase), {
      method,
      cache: 'no-store',
      headers: {
        ...(token !== undefined && { 'x-registry-token': token }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const value: unknown = text === '' ? undefined : parsed(text);
    if (answer.ok) return { value };
    return { problem: isProblem(value) ? (value satisfies Problem) : unexplained(answer.status) };
  } catch {
    return { problem: { title: 'The server did not answer', detail: 'Is the agent running?' } };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const unexplained = (status: number): ShownProblem => ({
  title: 'The answer came from elsewhere',
  detail: `Something between the page and the server answered with status ${status}.`,
  status,
});

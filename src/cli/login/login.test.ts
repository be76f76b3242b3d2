import { expect, test } from 'vitest';
import { limits } from '../../model/limits.ts';
import type { Reply } from '../../sdk/server.test-helper.ts';
import { type Ran, run } from '../harness.test-helper.ts';

const token = {
  AccessorID: 'a0000000-0000-4000-8000-000000000000',
  SecretID: 'b0000000-0000-4000-8000-000000000000',
  AuthMethod: 'sso',
  Namespace: 'default',
  ExpirationTime: '2026-01-01T01:00:00Z',
};
const authUrl = 'https://login.example/start?state=s&nonce=n';
const server = {
  'POST /v1/acl/login': { json: token },
  'POST /v1/acl/logout': { json: true },
  'POST /v1/acl/oidc/auth-url': { json: { AuthURL: authUrl } },
  'POST /v1/acl/oidc/callback': { json: token },
};
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
const bodies = ({ seen }: Ran): any[] => seen.map(({ body }) => body);

test('the missing file of an old token does not prevent a login', async () => {
  const env = { ROSTER_TOKEN_FILE: 'gone' };
  const ran = await run(['login', 'ci', '-bearer-token-file=jwt'], {
    server,
    env,
    files: { jwt: 'x' },
  });
  expect(ran.exitCode).toBe(0);
  expect(ran.seen[0]!.headers['x-registry-token']).toBeUndefined();
});

test('a JWT from a file gets a token, without sending the old token', async () => {
  const ran = await run(['login', '-method', 'ci', '-bearer-token-file=jwt', '-meta', 'run=7'], {
    server,
    files: { jwt: 'the.jwt.itself\n' },
    env: { ROSTER_TOKEN: 'stale' },
  });
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toContain(token.SecretID);
  expect(bodies(ran)).toEqual([
    { AuthMethod: 'ci', BearerToken: 'the.jwt.itself', Meta: { run: '7' } },
  ]);
  expect(JSON.stringify(ran.seen[0]!.headers)).not.toContain('stale');
});

test('a sink file keeps the secret, and the terminal does not show it', async () => {
  const words = ['login', '-method=ci', '-bearer-token-file=-', '-token-sink-file=sink'];
  const ran = await run(words, { server, stdin: 'the.jwt.itself' });
  expect(ran.written).toEqual({ sink: `${token.SecretID}\n` });
  expect(ran.stdout + ran.stderr).not.toContain(token.SecretID);
});

const answer = 'state=s&code=c&iss=https://login.example';

test('without a JWT the browser is opened, and the parameters of its redirect are passed on', async () => {
  const ran = await run(['login', '-method=sso'], { server, redirects: [answer] });
  expect(ran.opened).toEqual([authUrl]);
  expect(ran.stderr).toContain(authUrl);
  const [start, finish] = bodies(ran);
  expect(start).toMatchObject({ RedirectURI: 'http://localhost:8550/oidc/callback' });
  expect(start.ClientNonce).toMatch(/^[0-9a-f-]{36}$/);
  expect(finish).toEqual({
    AuthMethod: 'sso',
    ClientNonce: start.ClientNonce,
    State: 's',
    Code: 'c',
    Issuer: 'https://login.example',
  });
  expect(ran.pages).toMatchObject([{ isFine: true, title: 'You are logged in' }]);
});

test('a redirect with another state, or without a state, is refused and does not end the wait', async () => {
  const redirects = ['state=other&code=c', 'code=c', 'error=access_denied', answer];
  const ran = await run(['login', '-method=sso'], { server, redirects });
  expect(ran.exitCode).toBe(0);
  expect(bodies(ran)).toHaveLength(2);
  expect(ran.pages.map(({ isFine }) => isFine)).toEqual([false, false, false, true]);
  expect(ran.pages[0]!.text).toContain('another login');
  expect(ran.stderr.match(/another login was refused/g)).toHaveLength(1);
});

test.each<[what: string, redirect: string, reply: Reply, told: string]>([
  ['the provider', 'error=access_denied&state=s', {}, 'The provider refused: access_denied.'],
  [
    'the provider, in its words',
    'error=x&state=s&error_description=No%0A<b>',
    {},
    'The provider refused: No <b>.',
  ],
  [
    'the server',
    answer,
    { status: 403, json: { code: 'login-refused', detail: 'Not you.' } },
    'Not you.',
  ],
])('a refusal of %s is told here and in the browser', async (_, redirect, reply, told) => {
  const answers = { ...server, 'POST /v1/acl/oidc/callback': reply };
  const ran = await run(['login', '-method=sso'], { server: answers, redirects: [redirect] });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain(told);
  expect(ran.pages).toEqual([{ isFine: false, title: 'The login was refused', text: told }]);
});

test.each([
  'https://login.example/',
  'https://login.example/?state=',
  'file:///etc/passwd?state=s',
  '--help?state=s',
])('%s begins no login', async (AuthURL) => {
  const answers = { 'POST /v1/acl/oidc/auth-url': { json: { AuthURL } } };
  const ran = await run(['login', '-method=sso'], {
    server: answers,
    redirects: ['code=c&state='],
  });
  expect([ran.exitCode, ran.opened, ran.pages]).toEqual([1, [], []]);
  expect(ran.stderr).toContain('begins no login');
});

test('the wait ends when the server has forgotten the login', async () => {
  let advanced: Promise<void> | undefined;
  const onAlone = (advance: (durationMs: number) => Promise<void>) => {
    advanced = advance(limits.oidcSession.ageMs);
  };
  const ran = await run(['login', '-method=sso'], { server, onAlone });
  await advanced;
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain('Nobody has logged in within 10 minutes.');
});

test.each<[string, string[], object, string]>([
  ['no method', ['login'], {}, "Missing required argument 'METHOD'"],
  [
    'a file that is not there',
    ['login', '-method=x', '-bearer-token-file=y'],
    {},
    '"y" cannot be read',
  ],
  ['meta of another form', ['login', '-method=x', '-meta=y'], {}, 'KEY=VALUE'],
])('%s is told', async (_, words, setting, text) => {
  const ran = await run(words, { server, ...setting });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain(text);
});

test('logout', async () => {
  const ran = await run(['logout'], { server, env: { ROSTER_TOKEN: 'mine' } });
  expect(ran.stdout).toBe('Logged out.\n');
  expect(ran.seen[0]!.headers).toMatchObject({ 'x-registry-token': 'mine' });
});

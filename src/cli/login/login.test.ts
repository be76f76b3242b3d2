import { expect, test } from 'vitest';
import { type Ran, run } from '../harness.ts';

const token = {
  AccessorID: 'a0000000-0000-4000-8000-000000000000',
  SecretID: 'b0000000-0000-4000-8000-000000000000',
  AuthMethod: 'sso',
  Namespace: 'default',
  ExpirationTime: '2026-01-01T01:00:00Z',
};
const server = {
  'POST /v1/acl/login': { json: token },
  'POST /v1/acl/logout': { json: true },
  'POST /v1/acl/oidc/auth-url': { json: { AuthURL: 'https://login.example/start' } },
  'POST /v1/acl/oidc/callback': { json: token },
};
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
const bodies = ({ seen }: Ran): any[] => seen.map(({ body }) => body);

test('a JWT from a file gets a token, without the token that was there before', async () => {
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

test('without a JWT the browser is opened, and what it comes back with is passed on', async () => {
  const redirect = 'state=s&code=c&iss=https://login.example';
  const ran = await run(['login', '-method=sso'], { server, redirect });
  expect(ran.opened).toEqual(['https://login.example/start']);
  expect(ran.stderr).toContain('https://login.example/start');
  const [start, finish] = bodies(ran);
  expect(start).toMatchObject({ RedirectURI: 'http://localhost:8550/oidc/callback' });
  expect(start.ClientNonce).toMatch(/^[0-9a-f-]{36}$/);
  expect(finish).toEqual({
    ...{ AuthMethod: 'sso', ClientNonce: start.ClientNonce, State: 's', Code: 'c' },
    Issuer: 'https://login.example',
  });
});

test.each<[string, string[], object, string]>([
  ['no method', ['login'], {}, '--method is required'],
  [
    'a refusal of the provider',
    ['login', '-method=sso'],
    { redirect: 'error=access_denied' },
    'access_denied',
  ],
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

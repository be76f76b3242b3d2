import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let lines: string[];
beforeEach(async () => {
  lines = [];
  const audit = { sink: { write: (line: string) => void lines.push(line) }, events: 'writes' };
  api = await startApi({ audit: audit as never });
});

const minuteMs = 60_000;
const here = '127.0.0.1';

const make = (token: string | null = rootToken, body: object = {}) =>
  api.call('POST', '/v1/ui/link', { token, body });
const linkOf = async (token?: string, body?: object): Promise<string> =>
  (await make(token, body)).json.Secret;
const use = (Secret: unknown, address = here, headers: Record<string, string> = {}) =>
  api.call('POST', '/v1/ui/sign-in', { token: null, address, headers, body: { Secret } });
const signOut = (token: string | null) => api.call('POST', '/v1/ui/sign-out', { token });
const self = (token: string) => api.call('GET', '/v1/acl/token/self', { token });

describe('a link', () => {
  test('has 128 random bits in the alphabet of addresses, and a time at which it expires', async () => {
    const [one, other] = [await make(), await make()];
    expect(one.json).toEqual({
      Secret: expect.stringMatching(/^[\w-]{22}$/),
      LoopbackOnly: false,
      ExpirationTime: '2026-01-01T00:05:00Z',
    });
    expect(other.json.Secret).not.toBe(one.json.Secret);
  });

  test('is exchanged for a token with the rights of its maker, which is another one and expires', async () => {
    const { status, json } = await use(await linkOf());
    const { json: root } = await self(rootToken);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      Policies: root.Policies,
      Description: `web interface, link of ${root.AccessorID}`,
      ExpirationTime: '2026-01-01T08:00:00Z',
    });
    expect(json.SecretID).not.toBe(rootToken);
    expect((await self(json.SecretID)).json.AccessorID).toBe(json.AccessorID);
    await api.world.advance(8 * 60 * minuteMs);
    expect((await self(json.SecretID)).json.code).toBe('token-not-found');
  });

  test('gives no more than its maker has, and no longer', async () => {
    const acl = aclOf(api);
    const { ID } = await acl.policy('reader', { Rules: 'namespace "default" { policy = "read" }' });
    const maker = await acl.token({ Policies: [{ ID }], ExpirationTTL: '1h' });
    await api.world.advance(minuteMs);
    const { json } = await use(await linkOf(maker.SecretID));
    expect(json.Policies).toEqual([{ ID, Name: 'reader' }]);
    expect(json.ExpirationTime).toBe(maker.ExpirationTime);
    const tokens = await api.call('GET', '/v1/acl/tokens', { token: json.SecretID });
    expect(tokens.status).toBe(403);
    // A link of the link's token lasts no longer either.
    const { json: second } = await use(await linkOf(json.SecretID));
    expect(second.ExpirationTime).toBe(maker.ExpirationTime);
  });

  test.each([
    ['no token', null],
    ['the anonymous token', 'anonymous'],
  ])('is not made for %s', async (_title, token) => {
    const { status, json } = await make(token);
    expect([status, json.code]).toEqual([403, 'token-needed']);
  });

  test('is refused by a server without access control', async () => {
    const open = await startApi({ aclEnabled: false });
    const made = await open.call('POST', '/v1/ui/link', { body: {} });
    const used = await open.call('POST', '/v1/ui/sign-in', { body: { Secret: 'x' } });
    expect([made.json.code, used.json.code]).toEqual(['acl-disabled', 'acl-disabled']);
  });
});

describe('a link is refused', () => {
  const expectRefused = (
    { status, json }: Awaited<ReturnType<typeof use>>,
    reason: RegExp,
    secret: string,
  ) => {
    expect([status, json.code]).toEqual([403, 'sign-in-link-refused']);
    expect(json.detail).toMatch(reason);
    expect(JSON.stringify(json)).not.toContain(secret);
  };

  test('at its second use', async () => {
    const secret = await linkOf();
    expect((await use(secret)).status).toBe(200);
    expectRefused(await use(secret), /was used before/, secret);
  });

  test('where two use it at the same time, to one of them', async () => {
    const secret = await linkOf();
    const both = await Promise.all([use(secret), use(secret)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  test('after 5 minutes', async () => {
    const [early, late] = [await linkOf(), await linkOf()];
    await api.world.advance(5 * minuteMs - 1000);
    expect((await use(early)).status).toBe(200);
    await api.world.advance(1000);
    expectRefused(await use(late), /older than 5 minutes/, late);
  });

  test('with a wrong secret', async () => {
    const secret = await linkOf();
    for (const wrong of [secret.slice(1), `${secret}x`, secret.toLowerCase(), 'x'.repeat(1000)]) {
      expectRefused(await use(wrong), /it is wrong/, wrong);
    }
    expect((await use(secret)).status).toBe(200);
  });

  test('without a secret', async () => {
    for (const absent of ['', ' ', null]) {
      const { status, json } = await use(absent);
      expect([status, json.errors[0].pointer]).toEqual([400, '/Secret']);
    }
  });

  test.each([
    ['from another machine', '192.0.2.1', {}],
    ['from another machine, over IPv6', '2001:db8::1', {}],
    ['through a proxy on this machine', here, { 'x-forwarded-for': '192.0.2.1' }],
    ['through another kind of proxy on this machine', here, { forwarded: 'for=192.0.2.1' }],
  ])('%s, where it holds on the machine of the server only', async (_title, address, headers) => {
    const secret = await linkOf(rootToken, { LoopbackOnly: true });
    expectRefused(await use(secret, address, headers), /on the machine of the server only/, secret);
    for (const near of ['::1']) expect((await use(secret, near)).status).toBe(200);
  });

  test('after the token of its maker is gone', async () => {
    const acl = aclOf(api);
    const maker = await acl.token();
    const secret = await linkOf(maker.SecretID);
    await api.call('DELETE', `/v1/acl/token/${maker.AccessorID}`);
    expectRefused(await use(secret), /the token that made it is gone/, secret);
  });

  test('after too many failures of its address, as logins are', async () => {
    const secret = await linkOf();
    const answers: number[] = [];
    for (let count = 0; count < 21; count++) answers.push((await use('guess', '192.0.2.9')).status);
    expect(answers).toEqual([...Array(20).fill(403), 429]);
    expect((await use(secret, '192.0.2.9')).json.code).toBe('too-many-logins');
    expect((await use(secret, '192.0.2.8')).status).toBe(200);
  });

  test('if its maker made more than 8 links after it', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 9 }, () => linkOf()));
    expectRefused(await use(first), /make another/, first!);
    expect((await use(others[0])).status).toBe(200);
  });

  test('to a page of another site', async () => {
    const secret = await linkOf();
    const foreign = await use(secret, here, { host: 'localhost', origin: 'https://evil.example' });
    expect([foreign.status, foreign.json.code]).toEqual([403, 'foreign-site']);
    expect((await use(secret)).status).toBe(200);
  });
});

describe('signing out', () => {
  test('deletes the token of a link', async () => {
    const { json } = await use(await linkOf());
    expect((await signOut(json.SecretID)).json).toBe(true);
    expect((await self(json.SecretID)).json.code).toBe('token-not-found');
  });

  test('leaves every other token alone', async () => {
    const { json } = await signOut(rootToken);
    expect(json.code).toBe('token-not-from-login');
    const named = await aclOf(api).token({ Description: 'web interface, link of nobody' });
    expect((await signOut(named.SecretID)).json.code).toBe('token-not-from-login');
    expect((await signOut(null)).status).toBe(401);
    expect((await self(rootToken)).status).toBe(200);
  });
});

test('the audit log has a line for each link, each use and each refusal, without a secret', async () => {
  const secret = await linkOf();
  const { json } = await use(secret);
  await use(secret);
  const seen = lines
    .map((line) => JSON.parse(line))
    .filter(({ path }) => path.startsWith('/v1/ui'));
  expect(
    seen.map(({ path, decision, code, made }) => [path, decision, code ?? made?.accessor]),
  ).toEqual([
    ['/v1/ui/link', 'allowed', undefined],
    ['/v1/ui/sign-in', 'allowed', json.AccessorID],
    ['/v1/ui/sign-in', 'refused', 'sign-in-link-refused'],
  ]);
  expect(seen[1].made.link).toBe(json.Description);
  expect(seen[1].remote).toBe(here);
  for (const hidden of [secret, json.SecretID, rootToken]) {
    expect(lines.join('')).not.toContain(hidden);
  }
});

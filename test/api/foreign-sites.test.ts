/** Pages of foreign sites in a browser cannot use permissions that need no token. */
import { expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

type Headers = Readonly<Record<string, string>>;

const own = { host: '127.0.0.1:4720' };
const pages: readonly (readonly [page: string, headers: Headers, isForeign: boolean])[] = [
  ['no browser, by an address', own, false],
  ['no browser, without a host', {}, false],
  ['no browser, by IPv6', { host: '[::1]:4720' }, false],
  ['no browser, by localhost', { host: 'localhost:4720' }, false],
  ['no browser, by a name below localhost', { host: 'a.LOCALHOST.' }, false],
  ['no browser, by an allowed name', { host: 'Roster.example.com:80' }, false],
  ['no browser, by a name below an allowed one', { host: 'a.b.example.org' }, false],
  ['a page of this server', { ...own, origin: 'http://127.0.0.1:4720' }, false],
  ['a page behind an allowed name', { ...own, origin: 'https://roster.example.com' }, false],
  [
    'its default port',
    { host: 'roster.example.com', origin: 'http://roster.example.com:80' },
    false,
  ],
  ['a request of its own', { ...own, 'sec-fetch-site': 'same-origin' }, false],
  ['an address typed by a person', { ...own, 'sec-fetch-site': 'none' }, false],
  ['a name that leads here', { host: 'evil.example.com:4720' }, true],
  ['that name as its own origin', { host: 'evil.example', origin: 'http://evil.example' }, true],
  ['the end of an allowed name', { host: 'evilexample.org' }, true],
  ['an allowed parent itself', { host: 'example.org' }, true],
  ['an invalid host', { host: 'a b' }, true],
  ['a page elsewhere', { ...own, origin: 'https://evil.example.com' }, true],
  ['a page on another port', { ...own, origin: 'http://127.0.0.1:3000' }, true],
  [
    'a page on another port of localhost',
    { host: 'localhost:4720', origin: 'http://localhost:1' },
    true,
  ],
  ['a page without an origin', { ...own, origin: 'null' }, true],
  ['a file', { ...own, origin: 'file://' }, true],
  ['an image elsewhere', { ...own, 'sec-fetch-site': 'cross-site' }, true],
  ['an image of a sibling', { ...own, 'sec-fetch-site': 'same-site' }, true],
];

const hosts = ['roster.example.com', '.example.org'];
const read = (api: TestApi, headers: Headers, token: string | null = null) =>
  api.call('GET', '/v1/jobs', { token, headers });
const write = (api: TestApi, headers: Headers, token: string | null = null) =>
  api.call('POST', '/v1/jobs', { token, headers, body: jobBody() });

test.each(pages)('%s, with access control off', async (_, headers, isForeign) => {
  const api = await startApi({ aclEnabled: false, hosts });
  const answers = [await read(api, headers), await write(api, headers)];
  const [status, code] = isForeign ? [403, 'foreign-site'] : [200, undefined];
  expect(answers.map(({ json, ...one }) => [one.status, json.code])).toEqual([
    [status, code],
    [status, code],
  ]);
});

const foreign = { host: 'evil.example.com', origin: 'http://evil.example.com' };

test("the anonymous token's permissions are refused to foreign pages; those of a presented token are not", async () => {
  const api = await startApi({ hosts });
  const anonymous = '/v1/acl/token/00000000-0000-0000-0000-000000000002';
  expect(await read(api, foreign)).toMatchObject({ json: { code: 'permission-denied' } });
  const Rules = 'namespace "default" { policy = "write" }';
  await api.call('PUT', '/v1/acl/policy', { body: { Name: 'all', Rules } });
  const given = await api.call('PUT', anonymous, { body: { Policies: [{ Name: 'all' }] } });
  expect(given.status).toBe(200);
  for (const ask of [read, write]) {
    expect(await ask(api, foreign)).toMatchObject({ status: 403, json: { code: 'foreign-site' } });
    expect((await ask(api, own)).status).toBe(200);
    expect((await ask(api, foreign, '11111111-1111-4111-8111-111111111111')).status).toBe(200);
  }
});

test('the refusal names the header and the setting, and is in the audit log', async () => {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line) };
  const api = await startApi({ aclEnabled: false, audit: { sink, events: 'all' } });
  const { json } = await write(api, foreign);
  expect(json.detail).toContain('Host is "evil.example.com"');
  expect(json.detail).toContain('http.allowed_hosts');
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ decision: 'refused', code: 'foreign-site' });
});

test.each([
  ['GET', '/v1/agent/health', 200],
  ['GET', '/v1/status/leader', 200],
  ['PUT', '/v1/acl/bootstrap', 403],
  ['POST', '/v1/acl/login', 403],
])('%s %s, which needs no permission: %i', async (method, path, status) => {
  const api = await startApi({ hasRoot: false });
  const body = { AuthMethod: 'none', BearerToken: 'none' };
  const given = method === 'POST' ? { body } : {};
  const answer = await api.call(method, path, { token: null, headers: foreign, ...given });
  expect(answer.status).toBe(status);
  if (status === 403) expect(answer.json.code).toBe('foreign-site');
});

test('blocking queries without a token have a limit of their own', async () => {
  const api = await startApi({ aclDefaultPolicy: 'allow' });
  const wait = (token: string | null) => {
    const given = token === null ? { token } : {};
    return api.call('GET', '/v1/jobs?index=1000&wait=10s', given);
  };
  const waiting = Array.from({ length: limits.watch.parkedAnonymousMax }, () => wait(null));
  const over = await wait(null);
  expect([over.status, over.json.code]).toEqual([429, 'too-many-watches']);
  const known = wait('root');
  await api.settle();
  await api.world.advance(11_000);
  expect((await known).status).toBe(200);
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
  const again = wait(null);
  await api.world.advance(11_000);
  expect((await again).status).toBe(200);
});

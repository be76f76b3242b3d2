import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Answer, Request } from '../http.ts';
import { ownHosts } from '../own-site.ts';
import { type NamedBytes, uiFilesOf } from './files.ts';
import { Ui, type UiSource } from './ui.ts';

const page = '<!doctype html><base href="./"><script src="./assets/app-1.js"></script>';
const code = 'export const one = 1;\n'.repeat(100);
const bundle: readonly NamedBytes[] = [
  ['index.html', Buffer.from(page)],
  ['assets/app-1.js', Buffer.from(code)],
  ['assets/app-1.js.br', brotliCompressSync(code)],
  ['assets/app-1.js.gz', gzipSync(code)],
  ['icon.svg', Buffer.from('<svg/>')],
];

const ready: UiSource = { read: async () => uiFilesOf(bundle) };

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

type Given = Readonly<Record<string, string>>;

async function ask(
  path: string,
  headers: Given = {},
  { source = ready, method = 'GET' }: { source?: UiSource; method?: string } = {},
): Promise<Answer | undefined> {
  const ui = new Ui(ownHosts(['roster.example.com']), { source });
  const [before = '', query = ''] = path.split('?');
  const request: Request = { method, path: before, query, headers, body: undefined };
  return ui.answer(request);
}

const textOf = (answer: Answer | undefined): string =>
  Buffer.from((answer?.body ?? '') as Uint8Array | string).toString();

test.each([
  ['of a browser at the root', '/', browser, 'ui/'],
  ['of a browser at the root, with a query', '/?next=jobs', browser, 'ui/?next=jobs'],
  ['without the slash', '/ui', browser, 'ui/'],
  ['without the slash, of a program', '/ui', {}, 'ui/'],
])('requests %s are sent to the interface, relatively', async (_, path, headers, location) => {
  expect(await ask(path, headers)).toMatchObject({ status: 307, headers: { location } });
});

test.each([
  ['/', { accept: 'application/json' }],
  ['/', {}],
  ['/v1/jobs', browser],
  ['/uis', browser],
])('%s with %j is a request for the API', async (path, headers) => {
  expect(await ask(path, headers)).toBeUndefined();
});

test.each([
  ['/ui/', './'],
  ['/ui/jobs', './'],
  ['/ui/jobs/', '../'],
  ['/ui/jobs/default/web', '../../'],
  ['/ui/jobs/default/web%2Fperiodic-1', '../../'],
  ['/ui//jobs', '../'],
  ['/ui/index.html', './'],
])('the page at %s has the base %s, which leads back to /ui/', async (path, base) => {
  const answer = await ask(path, {});
  expect(answer).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
  });
  expect(textOf(answer)).toBe(page.replace('./', base));
  const shown = new URL(path, 'http://127.0.0.1/').href;
  expect(new URL(base, shown).pathname).toMatch(/^\/ui\/$/);
});

test('names of pages may have dots when a browser asks, but files of the bundle are known', async () => {
  const named = '/ui/services/web.v1';
  expect(await ask(named, browser)).toMatchObject({ status: 200 });
  expect(await ask(named, { accept: '*/*' })).toMatchObject({ status: 404 });
  expect(await ask('/ui/assets/old-1.js', browser)).toMatchObject({ status: 404 });
  expect(await ask('/ui/favicon.ico', { accept: 'image/*' })).toMatchObject({ status: 404 });
});

test.each([
  ['br and gzip', 'gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip', 'gzip'],
  ['everything', '*', 'br'],
  ['no br', 'br;q=0, gzip;q=0.5', 'gzip'],
  ['nothing', 'identity', undefined],
  ['anything, without the header', undefined, undefined],
])('a client that takes %s gets the form for it', async (_, accepted, expected) => {
  const headers: Given = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const answer = await ask('/ui/assets/app-1.js', headers);
  expect(answer?.headers['content-encoding']).toBe(expected);
  expect(answer?.headers.vary).toBe('accept-encoding');
  const suffix = expected === undefined ? '' : expected === 'br' ? '.br' : '.gz';
  expect(answer?.body).toBe(bundle.find(([name]) => name === `assets/app-1.js${suffix}`)![1]);
});

test('files with a hash are kept for a year, others are asked for again and found unchanged', async () => {
  const hashed = await ask('/ui/assets/app-1.js');
  expect(hashed?.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  for (const path of ['/ui/', '/ui/icon.svg', '/ui/jobs/default/web']) {
    const first = await ask(path);
    expect(first?.headers['cache-control'], path).toBe('no-cache');
    const tag = first!.headers.etag!;
    const again = await ask(path, { 'if-none-match': `"other", ${tag}` });
    expect(again, path).toMatchObject({ status: 304, body: undefined, headers: { etag: tag } });
    expect(await ask(path, { 'if-none-match': '"other"' }), path).toMatchObject({ status: 200 });
  }
});

test('pages with another base are not the same page', async () => {
  const { etag } = (await ask('/ui/jobs/default/web'))!.headers;
  const other = await ask('/ui/jobs', { 'if-none-match': etag! });
  expect(other?.status).toBe(200);
});

test.each([
  '/ui/../package.json',
  '/ui/../../etc/passwd',
  '/ui/%2e%2e/package.json',
  '/ui/..%2fpackage.json',
  '/ui/assets/../../package.json',
  '/ui/assets/%2e%2e%2f%2e%2e%2fpackage.json',
  '/ui/assets\\..\\..\\package.json',
  '/ui//etc/passwd.txt',
  '/ui/assets/app-1.js%00.png',
  '/ui/assets/app-1.js/',
  '/ui/__proto__.js',
  '/ui/assets/constructor',
])('%s leads to no file', async (path) => {
  const answer = await ask(path, {});
  expect(answer).toMatchObject({ status: 404 });
});

test.each(['/ui/', '/ui/assets/app-1.js', '/ui/assets/no.js', '/ui', '/ui/../x.js'])(
  'the answer to %s has the strict headers',
  async (path) => {
    const answer = await ask(path);
    expect(answer?.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
    });
    const policy = answer!.headers['content-security-policy']!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  },
);

test.each([
  ['roster.example.com', 200],
  ['127.0.0.1:4720', 200],
  ['localhost', 200],
  ['foreign.example.com', 403],
])('at the host %s the answer is %i, also for links of other sites', async (host, status) => {
  const headers = { ...browser, host, 'sec-fetch-site': 'cross-site' };
  expect(await ask('/ui/', headers)).toMatchObject({ status });
  expect(await ask('/ui/assets/app-1.js', { host })).toMatchObject({ status });
});

test('other methods are refused, and told which there are', async () => {
  expect(await ask('/ui/', {}, { method: 'POST' })).toMatchObject({ status: 405 });
  const options = await ask('/ui/', {}, { method: 'OPTIONS' });
  expect(options).toMatchObject({ status: 200, headers: { allow: 'OPTIONS, GET, HEAD' } });
});

test('without a source every path is one of the API', () => {
  const request = { method: 'GET', path: '/ui/', query: '', headers: browser, body: undefined };
  expect(new Ui(ownHosts([])).answer(request)).toBeUndefined();
});

test('until there are files, a browser is told to ask again, and later requests find them', async () => {
  const reason = 'Some <b>seconds</b>.';
  let isReady = false;
  const source: UiSource = {
    read: async () => (isReady ? uiFilesOf(bundle) : { kind: 'made', reason }),
  };
  const ui = new Ui(ownHosts([]), { source });
  const request = { method: 'GET', path: '/ui/', query: '', headers: browser, body: undefined };
  const early = await ui.answer(request);
  expect(early).toMatchObject({ status: 503, headers: { 'cache-control': 'no-store' } });
  expect(textOf(early)).toContain('http-equiv="refresh"');
  expect(textOf(early)).not.toContain('<b>');
  isReady = true;
  expect(await ui.answer(request)).toMatchObject({ status: 200 });
});

test('without files the reason is told, and no browser waits for them', async () => {
  const source: UiSource = { read: async () => ({ kind: 'missing', reason: 'There are none.' }) };
  const answer = await ask('/ui/jobs', browser, { source });
  expect(answer?.status).toBe(503);
  expect(textOf(answer)).toContain('There are none.');
  expect(textOf(answer)).not.toContain('refresh');
});

test.each([
  ['without a page', [['a.js', Buffer.from('')]]],
  ['that is too large', [['index.html', new Uint8Array(65 * 2 ** 20)]]],
] as const)('a bundle %s is no interface', (_, files) => {
  expect(() => uiFilesOf(files)).toThrow(/web interface/);
});

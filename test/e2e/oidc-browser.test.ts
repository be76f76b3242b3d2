/** Logins with a real browser at a real provider, for a waiting command. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type Agent,
  command,
  endAgents,
  eventually,
  launch,
  type Program,
  startAgent,
} from '../support/agent.ts';
import { makeOpener, type Opener, startBrowser, type TestBrowser } from '../support/browser.ts';
import {
  clientId,
  clientSecret,
  type RunningProvider,
  startOidcProvider,
} from '../support/oidc-provider.ts';

let provider: RunningProvider;
let browser: TestBrowser;
let agent: Agent;
let opener: Opener;
let window: BrowserContext;
let page: Page;

beforeAll(async () => {
  const back = 'http://127.0.0.1/oidc/callback';
  [provider, browser, agent] = await Promise.all([
    startOidcProvider([back]),
    startBrowser(),
    startAgent(),
  ]);
  opener = makeOpener();
  const config = {
    OIDCDiscoveryURL: provider.issuer,
    OIDCClientID: clientId,
    OIDCClientSecret: clientSecret,
    AllowedRedirectURIs: [back],
    OIDCScopes: ['profile'],
    ClaimMappings: { name: 'name' },
    ListClaimMappings: { groups: 'groups' },
  };
  const rules = 'namespace "default" { policy = "read" }';
  await ok(rules, 'acl', 'policy', 'create', '-rules=-', 'readers');
  const method = ['auth-method', 'create', '-type=oidc', '-max-token-ttl=1h', '-config=-', 'sso'];
  await ok(JSON.stringify(config), 'acl', ...method);
  const rule = ['binding-rule', 'create', '-method=sso', '-selector="anns" in list.groups'];
  await ok('', 'acl', ...rule, '-bind-type=policy', '-bind-name=readers');
  await ok('', 'acl', ...rule, '-bind-type=service', '-bind-name=of-${value.name}');
});
afterAll(async () => {
  await Promise.all([browser?.close(), provider?.close()]);
  await endAgents();
});

beforeEach(async () => {
  window = await browser.window();
  page = await window.newPage();
});
afterEach(() => window.close());

async function ok(stdin: string, ...words: string[]) {
  const { code, stdout, stderr } = await agent.cliWith(stdin, ...words);
  expect([words, code, stderr]).toEqual([words, 0, '']);
  return stdout;
}

/** Runs a command with only this token. */
const as = (token: string, ...words: string[]) =>
  launch(command, words, { env: { ...agent.env, ROSTER_TOKEN: token } }).ended;

/** A command that waits for the browser, and the address that it opened. */
async function beginLogin(callback = '127.0.0.1:0', ...more: string[]) {
  const words = ['login', '-method=sso', `-callback-address=${callback}`, ...more];
  const env = { ...agent.env, ROSTER_TOKEN: '', ...opener.env };
  const login = launch(command, words, { env });
  const url = await opener.opened();
  // The browser may open before this output is read.
  const told = `Log in with your browser:\n\n  ${url}\n`;
  await eventually(() => expect(login.said().stderr).toContain(told));
  return { login, url };
}

async function signIn(url: string, name: string) {
  await page.goto(url);
  await page.getByPlaceholder('login').fill(name);
  await page.getByPlaceholder('password').fill('correct horse');
  await page.getByRole('button', { name: 'Sign-in' }).click();
}

const agree = () => page.getByRole('button', { name: 'Continue' }).click();
const cancel = () => page.getByRole('link', { name: 'Cancel' }).click();

/** Codes that the browser brought back from the provider. */
const codes: string[] = [];

/** The text of the page that the browser was sent back to. */
async function shown() {
  await page.waitForURL((url) => url.pathname === '/oidc/callback');
  const { searchParams } = new URL(page.url());
  for (const name of ['code', 'state']) codes.push(...searchParams.getAll(name));
  const [title, reason] = await Promise.all(
    ['h1', 'p >> nth=0'].map((selector) => page.locator(selector).textContent()),
  );
  return { title, reason };
}

const toRefuse = (reason: RegExp) => ({
  title: 'The login was refused',
  reason: expect.stringMatching(reason),
});

/** Checks that the command ended with this reason and printed nothing like a token. */
async function toldIn(login: Program, reason: RegExp) {
  const { code, stdout, stderr } = await login.ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(reason);
}

const tokensOfLogins = async (): Promise<object[]> =>
  (await agent.get('/v1/acl/tokens?authmethod=sso')).map(
    ({ AccessorID }: { AccessorID: string }) => AccessorID,
  );

test('a person logs in, has exactly the permissions of the binding rules, and logs out', async () => {
  const { login, url } = await beginLogin('127.0.0.1:0', '-json', '-meta=from=test');
  await signIn(url, 'ann');
  await agree();
  expect(await shown()).toEqual({
    title: 'You are logged in',
    reason: 'The command line has your token now.',
  });
  const { code, stdout } = await login.ended;
  expect(code).toBe(0);
  const token = JSON.parse(stdout);
  expect(token).toMatchObject({
    AuthMethod: 'sso',
    Description: 'token created via login: {"from":"test"}',
    Policies: [{ Name: 'readers' }],
    ServiceIdentities: [{ ServiceName: 'of-ann' }],
  });
  expect(await tokensOfLogins()).toEqual([token.AccessorID]);

  expect(await as(token.SecretID, 'job', 'status')).toMatchObject({ code: 0 });
  for (const words of [
    ['job', 'run', 'examples/web.json'],
    ['acl', 'token', 'list'],
    ['acl', 'policy', 'create', 'mine'],
  ]) {
    expect([words, await as(token.SecretID, ...words)]).toMatchObject([
      words,
      { code: 1, stderr: expect.stringMatching(/[Pp]ermission/) },
    ]);
  }

  expect(await as(token.SecretID, 'logout')).toMatchObject({ code: 0, stdout: 'Logged out.\n' });
  expect(await as(token.SecretID, 'job', 'status')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Check ROSTER_TOKEN'),
  });
  expect(await tokensOfLogins()).toEqual([]);
});

test.each<[where: string, before: (url: string) => Promise<unknown>]>([
  ['at the first page', (url) => page.goto(url)],
  [
    'when asked for consent',
    async (url) => {
      await signIn(url, 'ann');
      await page.getByRole('button', { name: 'Continue' }).waitFor();
    },
  ],
])('a person who cancels %s is not logged in', async (_, before) => {
  const { login, url } = await beginLogin();
  await before(url);
  await cancel();
  const reason = /The provider refused: End-User aborted interaction\./;
  expect(await shown()).toEqual(toRefuse(reason));
  await toldIn(login, reason);
  expect(await tokensOfLogins()).toEqual([]);
});

test('a person without a matching rule gets a reason', async () => {
  const { login, url } = await beginLogin();
  await signIn(url, 'bob');
  await agree();
  const reason = /Permission denied: no binding rule gives this identity anything/;
  expect(await shown()).toEqual(toRefuse(reason));
  await toldIn(login, reason);
  expect(await tokensOfLogins()).toEqual([]);
});

const ofAnother = toRefuse(/the answer to another login, or to one that was used before/);
const saysAnother = (login: Program) =>
  eventually(() => expect(login.said().stderr).toContain('another login was refused'));

test('a redirect with a wrong state is refused, and the right one still works', async () => {
  const { login, url } = await beginLogin();
  const back = new URL(new URL(url).searchParams.get('redirect_uri')!);
  for (const query of ['?code=stolen&state=made-up', '?code=stolen', '?error=access_denied']) {
    await page.goto(new URL(query, back).href);
    expect(await shown()).toEqual(ofAnother);
  }
  await saysAnother(login);
  await signIn(url, 'ann');
  await agree();
  expect(await shown()).toMatchObject({ title: 'You are logged in' });
  const { code, stdout, stderr } = await login.ended;
  const [, secret = ''] = /^export ROSTER_TOKEN=(\S+)$/m.exec(stderr)!;
  expect(stdout).toContain(secret);
  expect([code, (await as(secret, 'logout')).code]).toEqual([0, 0]);
});

test('state and code work only once', async () => {
  const first = await beginLogin('127.0.0.1:0', '-json');
  await signIn(first.url, 'ann');
  await agree();
  await shown();
  const used = new URL(page.url());
  const { SecretID } = JSON.parse((await first.login.ended).stdout);

  // Another login waits at the same address, and the browser goes back in its history.
  const second = await beginLogin(used.host);
  await page.goto(used.href);
  expect(await shown()).toEqual(ofAnother);
  await saysAnother(second.login);

  // The state is that of the waiting login, and the code that of the other.
  used.searchParams.set('state', new URL(second.url).searchParams.get('state')!);
  await page.goto(used.href);
  const reason = /the provider says: /;
  expect(await shown()).toEqual(toRefuse(reason));
  await toldIn(second.login, reason);

  expect(await tokensOfLogins()).toHaveLength(1);
  expect((await as(SecretID, 'logout')).code).toBe(0);
});

test('Ctrl-C ends a waiting login, and nothing listens any more', async () => {
  const { login, url } = await beginLogin();
  login.signal('SIGINT');
  expect(await login.ended).toMatchObject({ code: 130, stdout: '' });
  const back = new URL(url).searchParams.get('redirect_uri')!;
  await expect(page.goto(back)).rejects.toThrow('ERR_CONNECTION_REFUSED');
});

test('the agent has logged no secrets', () => {
  const { stdout, stderr } = agent.said();
  const said = stdout + stderr;
  expect(said).toContain('a login was refused');
  for (const secret of [clientSecret, ...codes]) expect(said).not.toContain(secret);
});

/** The web interface as a browser gets it from a real agent: alone, below a path of a proxy, switched off. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request as send } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type PrefixProxy, startPrefixProxy } from '../support/prefix-proxy.ts';
import { openUi, watchFaults } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;
let proxy: PrefixProxy;
let proxied: string;

const settings = ['--ui-label', 'production', '--ui-color', '#b42318'];

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent({ args: settings })]);
  proxy = await startPrefixProxy(agent.address);
  proxied = proxy.address;
});
afterAll(async () => {
  await browser?.close();
  await proxy?.close();
  await endAgents();
});

const bases = (): readonly [string, string] => [agent.address, proxied];

test.each([0, 1])(
  'the page is shown at each of its addresses, as an agent alone or with a prefix',
  async (at) => {
    const address = bases()[at]!;
    for (const path of ['', 'jobs', 'jobs/default/web', 'services/web.v1', 'jobs/default/a%2Fb']) {
      const page = await openUi(browser, { address, path });
      await page.locator('#app > *').first().waitFor();
      expect(await page.evaluate(() => document.baseURI)).toBe(`${address}/ui/`);
      const answers = await page.evaluate(async () => {
        const answer = await fetch(new URL('../v1/ui/settings', document.baseURI));
        return answer.json();
      });
      expect(answers).toMatchObject({ Enabled: true, Label: 'production', Color: '#b42318' });
    }
  },
);

test('the files have no code for developers, which keeps a trace of each change', async () => {
  const page = await openUi(browser, { address: agent.address });
  await page.locator('#app > *').first().waitFor();
  const texts = await page.evaluate(() =>
    Promise.all(
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('.js'))
        .map(async ({ name }) => (await fetch(name)).text()),
    ),
  );
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.filter((text) => text.includes('updated at'))).toEqual([]);
});

test('the base stays when the page changes its address, and a new page finds its way from there', async () => {
  const page = await openUi(browser, { address: proxied, path: 'jobs/default/web' });
  await page.evaluate(() => history.pushState(null, '', 'nodes/a/b/c/d'));
  expect(page.url()).toBe(`${proxied}/ui/nodes/a/b/c/d`);
  expect(await page.evaluate(() => document.baseURI)).toBe(`${proxied}/ui/`);
  await page.reload();
  await page.locator('#app > *').first().waitFor();
  expect(await page.evaluate(() => document.baseURI)).toBe(`${proxied}/ui/`);
});

test('connections for files end soon, unless another request is under way on them', async () => {
  const { hostname, port } = new URL(agent.address);
  await eventually(async () => expect((await fetch(`${agent.address}/ui/`)).status).toBe(200));
  const socket = connect(Number(port), hostname);
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  const ask = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-Registry-Token: ${agent.token}\r\n\r\n`;
  // The query waits for longer than the connection would without it.
  socket.write(ask('/ui/') + ask(`/v1/acl/policies?index=1000000&wait=1500ms`));
  await once(socket, 'close');
  expect(heard.match(/^HTTP\/1\.1 200/gm)).toHaveLength(2);
  expect(heard.match(/^keep-alive: timeout=1\r$/gim)).toHaveLength(2);
});

test('the root leads browsers to the interface, with a prefix as well', async () => {
  const window = await browser.window();
  const page = await window.newPage();
  for (const address of bases()) {
    await page.goto(`${address}/`);
    expect(page.url()).toMatch(new RegExp(`^${address}/ui/`));
    await page.goto(`${address}/ui`);
    expect(page.url()).toMatch(new RegExp(`^${address}/ui/`));
  }
  await window.close();
  const { status } = await fetch(`${agent.address}/`);
  expect(status).toBe(404);
});

test('code that is inline does not run, no style is inline, and WebSockets of the agent may be opened', async () => {
  const window = await browser.window();
  const page = await window.newPage();
  const faults = watchFaults(page);
  await page.goto(`${agent.address}/ui/`);
  await page.locator('#app > *').first().waitFor();
  expect(faults).toEqual([]);
  const seen = await page.evaluate(async () => {
    const violated: string[] = [];
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
      violated.push(effectiveDirective),
    );
    const script = document.createElement('script');
    script.textContent = 'globalThis.wasRun = true';
    const style = document.createElement('style');
    style.textContent = 'body { color: red }';
    const element = document.createElement('p');
    element.setAttribute('style', 'color: red');
    const allowed = document.createElement('p');
    allowed.style.color = 'blue';
    document.body.append(script, style, element, allowed);
    const socket = new WebSocket(new URL('../v1/client/exec', document.baseURI));
    await new Promise((resolve) => {
      socket.onerror = resolve;
      socket.onopen = resolve;
    });
    await new Promise((resolve) => setTimeout(resolve));
    return {
      violated: violated.sort(),
      wasRun: 'wasRun' in globalThis,
      color: getComputedStyle(allowed).color,
    };
  });
  expect(seen).toEqual({
    violated: ['script-src-elem', 'style-src-attr', 'style-src-elem'],
    wasRun: false,
    color: 'rgb(0, 0, 255)',
  });
  await window.close();
});

/** The answer as it is on the wire. `fetch` unpacks bodies and hides their length. */
function wire(path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>(
    (resolve, reject) => {
      send(`${agent.address}${path}`, { headers, method }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => {
          const { statusCode = 0, headers } = answer;
          resolve({ status: statusCode, headers, body: Buffer.concat(parts) });
        });
      })
        .on('error', reject)
        .end();
    },
  );
}

test('on the wire, files come packed once, and what a client has does not come again', async () => {
  const { body: page, headers: told } = await wire('/ui/', {});
  const path = `/ui/${/assets\/[^"]+\.js/.exec(page.toString())![0]}`;
  const plain = await wire(path, {});
  for (const [accepted, unpack] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    const packed = await wire(path, { 'accept-encoding': accepted });
    expect(packed.headers['content-encoding']).toBe(accepted);
    expect(packed.headers['content-length']).toBe(String(packed.body.length));
    expect(unpack(packed.body).equals(plain.body)).toBe(true);
    const head = await wire(path, { 'accept-encoding': accepted }, 'HEAD');
    expect([head.body.length, head.headers['content-length']]).toEqual([
      0,
      String(packed.body.length),
    ]);
  }
  const known = await wire('/ui/', { 'if-none-match': told.etag! });
  expect([known.status, known.headers['content-length'], known.body.length]).toEqual([
    304,
    undefined,
    0,
  ]);
});

test('a running agent takes another label', async () => {
  const directory = newDirectory('configuration');
  const write = (label: string) =>
    writeFileSync(join(directory, 'ui.hcl'), `ui {\n  label = "${label}"\n}\n`);
  write('test');
  const other = await startAgent({ args: ['--config', directory] });
  const label = async () => (await other.get('/v1/ui/settings')).Label;
  expect(await label()).toBe('test');
  write('staging');
  const { json } = await other.request('PUT', '/v1/agent/reload');
  expect(json).toEqual({ Changed: ['ui.label'], NeedRestart: [] });
  expect(await label()).toBe('staging');
});

test('an agent without the interface has no such path, and says so in its settings', async () => {
  const other = await startAgent({ args: ['--ui', 'false'] });
  for (const path of ['/', '/ui', '/ui/', '/ui/jobs']) {
    const answer = await fetch(`${other.address}${path}`, { headers: { accept: 'text/html' } });
    expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 404, null]);
  }
  expect(await other.get('/v1/ui/settings')).toMatchObject({ Enabled: false, Label: '' });
});

test('readers serve the interface, and know the label of the main thread', async () => {
  const other = await startAgent({ args: ['--readers', '2', ...settings] });
  await eventually(async () => {
    const answer = await fetch(`${other.address}/ui/jobs`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('<base href="./">');
  });
  expect(await other.get('/v1/ui/settings')).toMatchObject({ Label: 'production' });
});

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type Agent, createAgent } from '../../src/agent.ts';
import { limits } from '../../src/model/limits.ts';
import { rootToken } from '../support/api.ts';
import { openUiSocket, type UiSocket, type UiSocketOptions } from '../support/ui-stream.ts';

let agent: Agent;
const sockets: UiSocket[] = [];

beforeAll(async () => {
  agent = await createAgent({ http: { host: '127.0.0.1', port: 0 }, rootToken });
});

afterAll(async () => {
  for (const { socket } of sockets) socket.terminate();
  await agent.close('stop');
});

function open(options: UiSocketOptions = { token: rootToken }): UiSocket {
  const socket = openUiSocket(agent.address!, options);
  sockets.push(socket);
  return socket;
}

async function request(method: string, path: string, body?: unknown, token = rootToken) {
  const answer = await fetch(`${agent.address}${path}`, {
    method,
    headers: { 'x-registry-token': token },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const header = (name: string) =>
    answer.headers.get(`x-scheduler-${name}`) ?? answer.headers.get(`x-registry-${name}`);
  return {
    status: answer.status,
    json: text === '' ? undefined : JSON.parse(text),
    nextToken: header('nexttoken') ?? undefined,
    total: header('total') === null ? undefined : Number(header('total')),
  };
}

const problemIn = (message: { readonly body: string }) => JSON.parse(message.body);

async function write(method: string, path: string, body?: unknown) {
  const answer = await request(method, path, body);
  expect([path, answer.status, answer.json?.detail]).toEqual([path, 200, undefined]);
  return answer.json;
}

/** A token that may read and write the namespace, and nothing else. */
async function tokenFor(
  namespace: string,
  name: string,
): Promise<{ secret: string; accessor: string }> {
  await write('PUT', '/v1/acl/policy', {
    Name: name,
    Rules: `namespace "${namespace}" { policy = "write" }`,
  });
  const made = await write('PUT', '/v1/acl/token', { Policies: [{ Name: name }] });
  return { secret: made.SecretID, accessor: made.AccessorID };
}

const job = (ID: string, Namespace: string, Priority = 50) => ({
  Job: {
    ID,
    Name: ID,
    Namespace,
    Type: 'batch',
    Priority,
    Datacenters: ['dc1'],
    TaskGroups: [
      { Name: 'g', Tasks: [{ Name: 't', Driver: 'exec', Config: { command: '/bin/true' } }] },
    ],
  },
});

test('a call is answered as over HTTP', async () => {
  const ui = open();
  ui.send({ kind: 'call', id: 1, method: 'GET', path: '/v1/namespaces' });
  const { status, body } = await ui.hears(({ id }) => id === 1);
  expect([status, JSON.parse(body)]).toEqual([200, (await request('GET', '/v1/namespaces')).json]);
  ui.send({
    kind: 'call',
    id: 2,
    method: 'PUT',
    path: '/v1/namespace',
    headers: { 'content-type': 'application/json' },
    body: '{"Name":"called"}',
  });
  expect(await ui.hears(({ id }) => id === 2)).toMatchObject({ status: 200 });
  expect((await request('GET', '/v1/namespace/called')).status).toBe(200);
});

test('the welcome tells when the hello came and when it was sent', async () => {
  const beforeMs = Date.now();
  const ui = open();
  const { heardMs, nowMs } = await ui.hears(({ kind }) => kind === 'welcome');
  const times = [beforeMs, heardMs, nowMs, Date.now()];
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

describe('the first message', () => {
  test.each<[string, object | string, string]>([
    ['is no JSON', '{', 'malformed-request'],
    ['is another', { kind: 'watch', id: 1, path: '/v1/jobs' }, 'malformed-request'],
    ['has another version', { kind: 'hello', version: 2, token: rootToken }, 'malformed-request'],
    [
      'has an unknown token',
      { kind: 'hello', version: 1, token: '99999999-9999-4999-8999-999999999999' },
      'token-not-found',
    ],
  ])('%s', async (_, first, code) => {
    const ui = open({ first });
    expect(await ui.closed).toEqual({ code: 1008, reason: code });
    expect(ui.heard.map(({ kind, problem }) => [kind, problem.code])).toEqual([['bye', code]]);
  });
});

describe('a message that breaks the protocol ends the connection', () => {
  test.each<[string, object | string]>([
    ['of no kind', { kind: 'x' }],
    ['a list', '[]'],
    ['a second hello', { kind: 'hello', version: 1 }],
    ['without an id', { kind: 'watch', path: '/v1/jobs' }],
    ['with an id that is too great', { kind: 'watch', id: 2 ** 32, path: '/v1/jobs' }],
    ['a path elsewhere', { kind: 'watch', id: 1, path: 'http://x/v1/jobs' }],
    ['a path with a fragment', { kind: 'watch', id: 1, path: '/v1/jobs#x' }],
    [
      'headers that are no texts',
      { kind: 'call', id: 1, method: 'GET', path: '/v1/jobs', headers: { a: 1 } },
    ],
    ['too many bytes', { kind: 'stream', id: 1, path: '/v1/jobs', bytes: 1e12 }],
  ])('%s', async (_, message) => {
    const ui = open();
    ui.send(message);
    expect(await ui.closed).toEqual({ code: 1008, reason: 'malformed-request' });
  });

  test('an id that is in use', async () => {
    const ui = open();
    ui.send({ kind: 'watch', id: 1, path: '/v1/jobs' });
    ui.send({ kind: 'watch', id: 1, path: '/v1/jobs' });
    expect(await ui.closed).toEqual({ code: 1008, reason: 'malformed-request' });
  });
});

test('a plain request is told to use a WebSocket', async () => {
  expect(await request('GET', '/v1/ui/stream')).toMatchObject({
    status: 426,
    json: { code: 'upgrade-required' },
  });
});

test.each([
  ['another site', { origin: 'https://evil.example' }],
  ['another port', { origin: 'http://127.0.0.1:1' }],
  ['no site that is known', { origin: 'null' }],
])('a page of %s gets no connection', async (_, headers) => {
  const socket = new WebSocket(`${agent.address!.replace('http', 'ws')}/v1/ui/stream`, { headers });
  const status = await new Promise((resolve, reject) => {
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode);
      socket.terminate();
    });
    socket.on('open', () => reject(new Error('it has opened')));
    socket.on('error', () => {});
  });
  expect(status).toBe(403);
});

test('another token cannot be given', async () => {
  const ui = open({});
  for (const [id, path] of [
    `/v1/acl/tokens?token=${rootToken}`,
    `/v1/acl/tokens?%74oken=${rootToken}`,
  ].entries()) {
    ui.send({ kind: 'call', id, method: 'GET', path, headers: {} });
    const answer = await ui.hears((message) => message.id === id);
    expect(problemIn(answer).code).toBe('invalid-query');
  }
  const headers = { 'x-registry-token': rootToken, authorization: `Bearer ${rootToken}` };
  ui.send({ kind: 'call', id: 5, method: 'GET', path: '/v1/acl/tokens', headers });
  expect(problemIn(await ui.hears(({ id }) => id === 5)).code).toBe('permission-denied');
});

test('two namespaces never see each other', async () => {
  await write('PUT', '/v1/namespace', { Name: 'left' });
  await write('PUT', '/v1/namespace', { Name: 'right' });
  const [left, right] = [await tokenFor('left', 'left'), await tokenFor('right', 'right')];
  const [one, other] = [open({ token: left.secret }), open({ token: right.secret })];
  for (const ui of [one, other]) ui.send({ kind: 'watch', id: 1, path: '/v1/jobs?namespace=*' });
  await one.hears(({ kind }) => kind === 'value');
  await other.hears(({ kind }) => kind === 'value');
  await write('PUT', '/v1/jobs', job('of-left', 'left'));
  await write('PUT', '/v1/jobs', job('of-right', 'right'));
  await one.until(() => expect(JSON.stringify(one.values.get(1))).toContain('of-left'));
  await other.until(() => expect(JSON.stringify(other.values.get(1))).toContain('of-right'));
  expect(JSON.stringify(one.heard)).not.toContain('of-right');
  expect(JSON.stringify(other.heard)).not.toContain('of-left');
  one.send({ kind: 'watch', id: 2, path: '/v1/job/of-right?namespace=right' });
  expect(await one.hears(({ id }) => id === 2)).toMatchObject({
    kind: 'refused',
    problem: { code: 'permission-denied' },
  });
});

test('the namespace of the hello is that of requests without one', async () => {
  await write('PUT', '/v1/namespace', { Name: 'hello' });
  await write('PUT', '/v1/jobs', job('greeted', 'hello'));
  const ui = open({ token: rootToken, namespace: 'hello' });
  ui.send({ kind: 'watch', id: 1, path: '/v1/jobs' });
  ui.send({ kind: 'watch', id: 2, path: '/v1/jobs?namespace=default' });
  await ui.until(() => expect(ui.values.get(1)).toMatchObject([{ ID: 'greeted' }]));
  await ui.until(() => expect(JSON.stringify(ui.values.get(2))).not.toContain('greeted'));
});

test('the value of a watch equals the whole answer, whatever is written', async () => {
  await write('PUT', '/v1/namespace', { Name: 'random' });
  const { secret } = await tokenFor('random', 'random');
  // It has the rights of the one before, so the two share what is read.
  const { SecretID: alike } = await write('PUT', '/v1/acl/token', {
    Policies: [{ Name: 'random' }],
  });
  const tabs = [rootToken, secret, alike].map((token) => ({ token, ui: open({ token }) }));
  const paths = [
    '/v1/jobs?namespace=random',
    '/v1/jobs?namespace=random&per_page=3',
    '/v1/namespaces',
    '/v1/jobs/statuses?namespace=random&per_page=3&total=true',
    '/v1/jobs/statuses?namespace=*&per_page=4&total=true&sort=Priority&reverse=true',
    `/v1/jobs?namespace=*&per_page=2&filter=${encodeURIComponent('ID != b and ID != d')}`,
    '/v1/jobs/statuses?namespace=*&per_page=2&total=true&reverse=true',
    '/v1/evaluations?namespace=*&per_page=3&total=true',
  ];
  for (const { ui } of tabs) {
    for (const [id, path] of paths.entries()) ui.send({ kind: 'watch', id, path });
  }
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const change = fc.oneof(
    fc.record({ kind: fc.constant('job'), name, priority: fc.integer({ min: 1, max: 100 }) }),
    fc.record({ kind: fc.constant('gone'), name, priority: fc.constant(0) }),
    fc.record({ kind: fc.constant('space'), name, priority: fc.nat(3) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      for (const { kind, name, priority } of changes) {
        if (kind === 'job') await write('PUT', '/v1/jobs', job(name, 'random', priority));
        else if (kind === 'space') {
          await write('PUT', '/v1/namespace', { Name: `r-${name}`, Description: `${priority}` });
        } else await request('DELETE', `/v1/job/${name}?namespace=random&purge=true`);
      }
      const whole = (token: string) =>
        Promise.all(paths.map((path) => request('GET', path, undefined, token)));
      for (const { token, ui } of tabs) {
        await ui.until(async () => {
          for (const [id, { json, total, nextToken }] of (await whole(token)).entries()) {
            const about = ui.heard.findLast((message) => message.id === id);
            const watched = [paths[id], ui.values.get(id), about?.total, about?.nextToken];
            expect(watched).toEqual([paths[id], json, total, nextToken]);
          }
        });
      }
    }),
    { numRuns: 8, endOnFailure: true },
  );
  expect(tabs[2]!.ui.heard.some(({ kind }) => kind === 'change')).toBe(true);
});

test('a value that the browser has is not sent again', async () => {
  const first = open();
  first.send({ kind: 'watch', id: 1, path: '/v1/acl/policies' });
  const { version, value } = await first.hears(({ kind }) => kind === 'value');
  const second = open();
  second.values.set(1, value);
  second.send({ kind: 'watch', id: 1, path: '/v1/acl/policies', has: version });
  expect(await second.hears(({ id }) => id === 1)).toMatchObject({ kind: 'same', version });
});

test('the next value waits for the acknowledgement, and is the newest', async () => {
  const ui = open();
  ui.acknowledges = false;
  ui.send({ kind: 'watch', id: 1, path: '/v1/namespace/paced' });
  await ui.hears(({ kind }) => kind === 'refused');
  const other = open();
  other.send({ kind: 'watch', id: 1, path: '/v1/namespace/paced' });
  for (const Description of ['one', 'two', 'three']) {
    await write('PUT', '/v1/namespace', { Name: 'paced', Description });
    await other.until(() => expect(other.values.get(1)).toMatchObject({ Description }));
  }
  // The same answers have been offered to it.
  expect(ui.heard.filter(({ id }) => id === 1)).toHaveLength(1);
  ui.acknowledges = true;
  ui.send({ kind: 'acknowledge', id: 1 });
  await ui.until(() => expect(ui.values.get(1)).toMatchObject({ Description: 'three' }));
  expect(ui.heard.filter(({ id }) => id === 1)).toHaveLength(2);
});

test('an ended watch is silent, and its id is free', async () => {
  const ui = open();
  ui.send({ kind: 'watch', id: 1, path: '/v1/namespaces' });
  await ui.hears(({ kind }) => kind === 'value');
  ui.send({ kind: 'end', id: 1 });
  ui.send({ kind: 'watch', id: 1, path: '/v1/acl/policies' });
  await ui.until(() =>
    expect(ui.values.get(1)).toContainEqual(expect.objectContaining({ Name: 'left' })),
  );
});

test('the end of the token is the end of the connection', async () => {
  const { secret, accessor } = await tokenFor('default', 'short');
  const ui = open({ token: secret });
  ui.send({ kind: 'watch', id: 1, path: '/v1/jobs' });
  await ui.hears(({ kind }) => kind === 'value');
  await write('DELETE', `/v1/acl/token/${accessor}`);
  expect(await ui.closed).toEqual({ code: 1008, reason: 'token-not-found' });
  expect(ui.heard.at(-1)).toMatchObject({ kind: 'bye', problem: { code: 'token-not-found' } });
});

test('a watch follows the rights of its token', async () => {
  await write('PUT', '/v1/namespace', { Name: 'rights' });
  await write('PUT', '/v1/jobs', job('seen', 'rights'));
  const { secret } = await tokenFor('default', 'changing');
  const ui = open({ token: secret });
  ui.send({ kind: 'watch', id: 1, path: '/v1/job/seen?namespace=rights' });
  await ui.hears(({ kind }) => kind === 'refused');
  const { ID } = (await request('GET', '/v1/acl/policy/name/changing')).json;
  const rules = (namespace: string) => ({
    ID,
    Name: 'changing',
    Rules: `namespace "${namespace}" { policy = "read" }`,
  });
  await write('PUT', `/v1/acl/policy/${ID}`, rules('rights'));
  await ui.until(() => expect(ui.values.get(1)).toMatchObject({ ID: 'seen' }));
  await write('PUT', `/v1/acl/policy/${ID}`, rules('default'));
  await ui.until(() =>
    expect(ui.heard.at(-1)).toMatchObject({ problem: { code: 'permission-denied' } }),
  );
});

test('a stream sends what was granted and no more', async () => {
  const ui = open();
  ui.send({ kind: 'stream', id: 1, path: '/v1/operator/snapshot', bytes: 10 });
  await ui.hears(({ kind, id }) => kind === 'head' && id === 1);
  await ui.until(() => expect(ui.bytes(1)).toHaveLength(10));
  ui.send({ kind: 'grant', id: 1, bytes: 7 });
  await ui.until(() => expect(ui.bytes(1)).toHaveLength(17));
  // A later request is answered, so nothing more was on its way.
  ui.send({ kind: 'call', id: 2, method: 'GET', path: '/v1/acl/policies' });
  await ui.hears(({ id }) => id === 2);
  expect([ui.bytes(1).length, ui.isOver(1)]).toEqual([17, false]);
  ui.send({ kind: 'grant', id: 1, bytes: limits.uiStream.creditBytesMax });
  await ui.until(() => expect(ui.isOver(1)).toBe(true));
});

test('too many watches are refused', async () => {
  const ui = open();
  const limit = limits.uiStream.watchesPerConnectionMax;
  for (let id = 0; id <= limit; id++) ui.send({ kind: 'watch', id, path: '/v1/acl/policies' });
  expect(await ui.hears(({ kind }) => kind === 'refused')).toMatchObject({
    id: limit,
    problem: { code: 'too-many-ui-requests', status: 429 },
  });
});

test.each(['/v1/event/stream', '/v1/client/allocation/x/exec', '/v1/ui/stream'])(
  '%s is not watched',
  async (path) => {
    const ui = open();
    ui.send({ kind: 'watch', id: 1, path });
    expect(await ui.hears(({ id }) => id === 1)).toMatchObject({
      kind: 'refused',
      problem: { code: 'not-watchable' },
    });
  },
);

test('connections and watched paths are counted', async () => {
  const ui = open();
  ui.send({ kind: 'watch', id: 1, path: '/v1/acl/policies' });
  await ui.hears(({ kind }) => kind === 'value');
  const answer = await fetch(`${agent.address}/v1/metrics?format=prometheus`, {
    headers: { 'x-registry-token': rootToken },
  });
  const text = await answer.text();
  expect(Number(/^roster_ui_connections (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  expect(Number(/^roster_ui_watches (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
});

test('a server that stops says so', async () => {
  const stopping = await createAgent({ http: { host: '127.0.0.1', port: 0 }, rootToken });
  const ui = openUiSocket(stopping.address!, { token: rootToken });
  sockets.push(ui);
  await ui.hears(({ kind }) => kind === 'welcome');
  await stopping.close('stop');
  expect(await ui.closed).toEqual({ code: 1001, reason: 'The server stops.' });
});

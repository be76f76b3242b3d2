import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, createAgent } from '../../src/agent.ts';
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
  return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
}

test('a call is answered as over HTTP', async () => {
  const ui = open();
  await ui.hears(({ kind }) => kind === 'welcome');
  ui.send({ kind: 'call', id: 1, method: 'GET', path: '/v1/namespaces' });
  const { status, body } = await ui.hears(({ id }) => id === 1);
  expect([status, JSON.parse(body)]).toEqual([200, (await request('GET', '/v1/namespaces')).json]);
});

test('a watch gives the value now and after each change', async () => {
  const ui = open();
  ui.send({ kind: 'watch', id: 1, path: '/v1/namespaces' });
  await ui.hears(({ kind }) => kind === 'value');
  await request('PUT', '/v1/namespace', { Name: 'one' });
  await ui.until(async () => {
    expect(ui.values.get(1)).toEqual((await request('GET', '/v1/namespaces')).json);
    expect(JSON.stringify(ui.values.get(1))).toContain('"one"');
  });
  expect(ui.heard.some(({ kind }) => kind === 'change')).toBe(true);
});

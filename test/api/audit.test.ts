import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { introduction, nodeBody, rootToken, startApi, type TestApi } from '../support/api.ts';

async function audited(events: 'all' | 'writes' = 'all') {
  const lines: string[] = [];
  const api = await startApi({ audit: { sink: { write: (line) => lines.push(line) }, events } });
  const last = () => JSON.parse(lines.at(-1)!);
  return { api, lines, last };
}

test('a line has caller, action, origin and decision', async () => {
  const { api, lines, last } = await audited();
  const address = '10.1.2.3';
  await api.call('PUT', '/v1/acl/policy?ns=default', { address, body: { Name: 'p', Rules: '' } });
  expect(last()).toEqual({
    time: '2026-01-01T00:00:00Z',
    remote: address,
    method: 'PUT',
    path: '/v1/acl/policy',
    route: '/v1/acl/policy',
    namespace: 'default',
    caller: {
      kind: 'token',
      accessor: expect.stringMatching(/^[0-9a-f-]{36}$/),
      namespace: 'default',
      partition: 'default',
    },
    permission: 'acl:write',
    decision: 'allowed',
    status: 200,
    durationMs: 0,
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]*\n$/);
});

test.each([
  [
    'denied',
    'GET',
    '/v1/acl/tokens',
    null,
    { decision: 'denied', code: 'permission-denied', caller: { kind: 'anonymous' } },
  ],
  [
    'an unknown token',
    'GET',
    '/v1/jobs',
    'x',
    { decision: 'refused', code: 'token-not-found', caller: { kind: 'unknown' } },
  ],
  [
    'no such path',
    'GET',
    '/v1/nothing',
    rootToken,
    { decision: 'refused', code: 'route-not-found', status: 404 },
  ],
  ['no such record', 'GET', '/v1/acl/role/name/x', rootToken, { decision: 'allowed', status: 404 }],
  [
    'a second bootstrap',
    'PUT',
    '/v1/acl/bootstrap',
    null,
    {
      decision: 'refused',
      status: 403,
      code: 'bootstrap-done',
      permission: 'nothing',
      caller: { kind: 'anonymous' },
    },
  ],
  ['a wrong body', 'PUT', '/v1/acl/role', rootToken, { decision: 'refused', status: 400 }],
  [
    'an open route',
    'GET',
    '/v1/agent/health',
    null,
    { decision: 'allowed', permission: 'nothing' },
  ],
] as const)('%s', async (_, method, url, token, entry) => {
  const { api, last } = await audited();
  await api.call(method, url, { token });
  expect(last()).toMatchObject(entry);
});

test('successful reads may be left out, refusals never are', async () => {
  const { api, lines } = await audited('writes');
  await api.call('GET', '/v1/jobs');
  expect(lines).toHaveLength(0);
  await api.call('GET', '/v1/jobs', { token: null });
  await api.call('DELETE', '/v1/acl/role/11111111-1111-4111-8111-111111111111');
  expect(lines.map((line) => JSON.parse(line).status)).toEqual([403, 200]);
});

test('secrets are never logged, wherever they were presented', async () => {
  const { api, lines } = await audited();
  const secret = 'abababab-abab-4bab-8bab-abababababab';
  const body = { SecretID: secret };
  const made = await api.call('PUT', '/v1/acl/token', { body });
  await api.call('GET', `/v1/acl/token/self?token=${secret}`, { token: null });
  await api.call('GET', '/v1/acl/token/self', { token: secret });
  await api.call('GET', `/v1/acl/token/self?token=${introduction}`, { token: null });
  await api.call('POST', '/v1/acl/login', {
    token: null,
    body: { AuthMethod: 'x', BearerToken: secret },
  });
  await api.call('POST', '/v1/acl/login', { token: null, body: `{"BearerToken": "${secret}"` });
  expect(lines).toHaveLength(6);
  const all = lines.join('');
  for (const hidden of [secret, rootToken, introduction]) expect(all).not.toContain(hidden);
  expect(all).toContain(made.json.AccessorID);
});

describe('a line for the stream of a node', () => {
  const node = nodeBody();
  const path = `/v1/node/${node.Node.ID}/stream`;

  /** Offers a WebSocket over a real connection; returns the status of the answer. */
  async function offer(api: TestApi, port: string, headers: Record<string, string>) {
    const sent = request({
      host: '127.0.0.1',
      port,
      path: `${path}?token=`,
      method: 'GET',
      headers: { connection: 'Upgrade', upgrade: 'websocket', ...headers },
    });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      sent.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode);
      });
      sent.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end();
    });
    await api.settle();
    return status;
  }
  const handshake = {
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-version': '13',
  };
  const cases: [string, Record<string, string>, number, object][] = [
    [
      'is opened',
      { ...handshake, 'x-registry-token': node.SecretID },
      101,
      { decision: 'allowed', caller: { kind: 'node', node: node.Node.ID } },
    ],
    [
      'is denied to others',
      { ...handshake, 'x-registry-token': introduction },
      403,
      { decision: 'denied', code: 'permission-denied', caller: { kind: 'introduction' } },
    ],
    [
      'is refused to who shows no known token',
      { ...handshake, 'x-registry-token': 'x' },
      403,
      { decision: 'refused', code: 'token-not-found', caller: { kind: 'unknown' } },
    ],
    [
      'cannot be had without a handshake',
      { 'x-registry-token': node.SecretID },
      400,
      { decision: 'allowed', code: 'malformed-request' },
    ],
  ];

  test.each(cases)('%s', async (_title, headers, status, entry) => {
    const { api, lines, last } = await audited('writes');
    await api.call('PUT', '/v1/node/register', { body: node, token: introduction });
    const port = (await api.api.listen({ host: '127.0.0.1', port: 0 })).split(':')[1]!;
    const before = lines.length;
    expect(await offer(api, port, headers)).toBe(status);
    expect(lines).toHaveLength(before + 1);
    expect(last()).toMatchObject({ remote: '127.0.0.1', method: 'GET', path, status, ...entry });
    expect(lines.join('')).not.toContain(node.SecretID);
    await api.api.close();
  });
});

import { beforeEach, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { StreamConnection } from '../../src/model/node-stream/stream-connection.ts';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

// A node that accepts streams and sends nothing.

let api: TestApi;
let connection: StreamConnection;
let url: string;
beforeEach(async () => {
  api = await startApi();
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  const [{ ID, NodeID }] = (await api.call('GET', '/v1/allocations')).json;
  const nothing = () => {};
  const socket = {
    sendText: nothing,
    sendBinary: nothing,
    onMessage: nothing,
    onClose: nothing,
    close: nothing,
    terminate: nothing,
    ping: nothing,
    onPong: nothing,
  };
  connection = new StreamConnection({ side: 'server', socket });
  api.server.streams.add(NodeID, connection);
  url = `/v1/client/fs/logs/${ID}?task=server&follow=true`;
});

const follow = (signal?: AbortSignal) => void api.call('GET', url, { ...(signal && { signal }) });

test('one follower too many is refused, until another leaves', async () => {
  const leaver = new AbortController();
  follow(leaver.signal);
  for (let count = 1; count < limits.stream.perNodeMax; count++) follow();
  await api.settle();
  const refused = await api.call('GET', url);
  expect(refused.json).toMatchObject({ status: 429, detail: expect.stringContaining('streams') });
  expect(refused.headers['retry-after']).toBe('1');
  leaver.abort();
  await api.settle();
  expect(connection.openStreams).toBe(limits.stream.perNodeMax - 1);
});

test('a follower that has already left opens no stream', async () => {
  follow(AbortSignal.abort());
  await api.settle();
  expect(connection.openStreams).toBe(0);
});

test('a disconnecting node fails its followers’ requests', async () => {
  const asked = api.call('GET', url);
  await api.settle();
  connection.close(1000, 'bye');
  expect((await asked).json).toMatchObject({ status: 503, code: 'node-unreachable' });
});

/** Access to the files of a terminal allocation: only the node of its successor has it. */
import { beforeEach, expect, test } from 'vitest';
import { socketPair } from '../../src/model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../../src/model/node-stream/stream-connection.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let url: string;
let asked: string[];

const secretOf = (n: number): string => `0000000${n}-0000-4000-8000-00000000000f`;

beforeEach(async () => {
  api = await startApi();
  const fleet = new Fleet(api);
  await fleet.join(1);
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  const [{ ID }] = (await api.call('GET', '/v1/allocations')).json;
  url = `/v1/client/allocation/${ID}/snapshot`;
  asked = [];
  const [socket, other] = socketPair();
  api.server.streams.add(idOf(1), new StreamConnection({ socket, side: 'server' }));
  const node = new StreamConnection({ socket: other, side: 'node' });
  node.accept('snapshot', async (stream, { alloc_id: id }) => {
    asked.push(String(id));
    await stream.write(new TextEncoder().encode('{}\na tar'));
  });
  await fleet.join(1);
});

test('without a successor no one has access, and then only its node', async () => {
  for (const n of [1, 2]) {
    expect((await api.call('GET', url, { token: secretOf(n) })).status).toBe(403);
  }
  const [{ ID }] = (await api.call('GET', '/v1/allocations')).json;
  await api.call('POST', `/v1/node/${idOf(1)}/eligibility`, {
    body: { Eligibility: 'ineligible' },
  });
  await api.call('PUT', `/v1/allocation/${ID}/stop`);
  await api.settle();
  const stopped = (await api.call('GET', `/v1/allocation/${ID}`)).json;
  const next = (await api.call('GET', `/v1/allocation/${stopped.NextAllocation}`)).json;
  expect(next).toMatchObject({ NodeID: idOf(2), PreviousAllocation: ID });
  expect((await api.call('GET', url, { token: secretOf(1) })).status).toBe(403);
  expect((await api.call('GET', url, { token: null })).status).toBe(403);
  const answer = await api.call('GET', url, { token: secretOf(2) });
  expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
    200,
    'a tar',
    'application/x-tar',
  ]);
  expect(asked).toEqual([ID]);
});

test('the files of an unknown allocation are refused to everyone', async () => {
  const none = '/v1/client/allocation/00000000-0000-4000-8000-00000000dead/snapshot';
  expect((await api.call('GET', none, { token: secretOf(1) })).status).toBe(403);
  expect((await api.call('GET', none)).status).toBe(404);
});

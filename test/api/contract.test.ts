import { beforeEach, expect, test } from 'vitest';
import { StreamConnection } from '../../src/model/node-stream/stream-connection.ts';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
});

test.each(['constructor', 'toString', 'valueOf', '__proto__'])(
  '"%s" is no boolean',
  async (word) => {
    const answer = await api.call('DELETE', `/v1/job/web?purge=${word}`);
    expect(answer.status).toBe(400);
    expect(answer.json.detail).toMatch(/must be true or false/);
    expect((await api.call('GET', '/v1/job/web')).status).toBe(200);
  },
);

test.each([1000, 101, -5])('EvalPriority %i is refused', async (EvalPriority) => {
  const body = { ...jobBody({ ID: 'other' }), EvalPriority };
  expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(400);
});

test('an allocation with a later job version carries that job', async () => {
  await api.call('POST', '/v1/jobs', { body: jobBody({ Meta: { a: '1' } }) });
  await api.settle();
  const { json: list } = await api.call('GET', '/v1/job/web/allocations');
  const { ID } = list.find((one: { JobVersion: number }) => one.JobVersion === 1);
  const { Job } = (await api.call('GET', `/v1/allocation/${ID}`)).json;
  expect(Job?.Version).toBe(1);
  expect(Job.CreateIndex).toBe((await api.call('GET', '/v1/job/web')).json.CreateIndex);
});

test('a version never exceeds the safe integers', async () => {
  const huge = jobBody({ ID: 'huge', Version: Number.MAX_SAFE_INTEGER });
  const { status } = await api.call('POST', '/v1/jobs', { body: huge });
  if (status === 200) {
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'huge', Priority: 60 }) });
    const { Version } = (await api.call('GET', '/v1/job/huge')).json;
    expect(Number.isSafeInteger(Version)).toBe(true);
  }
});

test('hidden fields cannot be used in a filter', async () => {
  const filter = encodeURIComponent('SecretHash matches "^[0-9a-f]"');
  expect((await api.call('GET', `/v1/nodes?filter=${filter}`)).status).toBe(400);
});

test('a foreign Region in a body is refused', async () => {
  const body = { ...jobBody({ ID: 'far' }), Region: 'elsewhere' };
  const { status, json } = await api.call('POST', '/v1/jobs', { body });
  const region = (await api.call('GET', '/v1/job/far')).json.Region;
  expect(status !== 200 || region === 'elsewhere' || json.Warnings !== '').toBe(true);
});

const park = (url: string) => {
  const parked = { status: 0 };
  void api.call('GET', url).then(({ status }) => {
    parked.status = status;
  });
  return parked;
};

test.each(['allocations', 'evaluations', 'deployments', 'summary'])(
  '%s of a job that is not there yet wake when it appears',
  async (list) => {
    const parked = park(`/v1/job/new/${list}?index=1&wait=5m`);
    await api.settle();
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'new' }) });
    await api.settle();
    expect(parked.status).toBe(200);
  },
);

test.each(['allocations', 'evaluations', 'summary'])(
  '%s of a job that is purged end with a 404 at once',
  async (list) => {
    const index = (await api.call('GET', `/v1/job/web/${list}`)).headers['x-scheduler-index'];
    const parked = park(`/v1/job/web/${list}?index=${index}&wait=5m`);
    await api.settle();
    await api.call('DELETE', '/v1/job/web?purge=true');
    await api.settle();
    expect(parked.status).toBe(404);
  },
);

test('one log follower too many is refused with an error of the catalogue', async () => {
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
  api.server.streams.add(NodeID, new StreamConnection({ side: 'server', socket }));
  const url = `/v1/client/fs/logs/${ID}?task=server&follow=true`;
  for (let count = 0; count < 256; count++) void api.call('GET', url);
  await api.settle();
  expect((await api.call('GET', url)).status).not.toBe(500);
});

test('a node class may be called "constructor"', async () => {
  const other = {
    ID: '44444444-4444-4444-8444-555555555555',
    Name: 'node-2',
    NodeClass: 'constructor',
  };
  const body = { ...nodeBody(other), SecretID: '33333333-3333-4333-8333-555555555555' };
  await api.call('PUT', '/v1/node/register', { body });
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'no' }, {}, { Driver: 'docker' }) });
  await api.settle();
  const evaluations = (await api.call('GET', '/v1/job/no/evaluations')).json;
  const { FailedTGAllocs } = evaluations.find(
    (one: { FailedTGAllocs: unknown }) => one.FailedTGAllocs,
  );
  expect(FailedTGAllocs.web.ClassFiltered).toEqual({ constructor: 1 });
});

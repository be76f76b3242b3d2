/** Host volumes over HTTP: reports of nodes, permissions, and waiting jobs. */
import { beforeEach, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { introduction, jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const data = { Path: '/srv/data', ReadOnly: false };
const join = (changes: object, token = introduction) =>
  api.call('PUT', '/v1/node/register', { body: nodeBody(changes), token });
const asking = (volume: object = {}) =>
  jobBody({}, { Volumes: { d: { Type: 'host', Source: 'data', ...volume } } });
const allocations = async () => {
  await api.settle();
  return (await api.call('GET', '/v1/job/web/allocations')).json.length;
};

test('a node shows its volumes, and a list of nodes does not', async () => {
  await join({ HostVolumes: { data } });
  const { ID } = nodeBody().Node;
  expect((await api.call('GET', `/v1/node/${ID}`)).json.HostVolumes).toEqual({ data });
  expect((await api.call('GET', '/v1/nodes')).text).not.toContain('/srv/data');
});

test.each([
  ['an invalid name', { 'a b': data }, 'Node.HostVolumes has the name "a b"'],
  [
    'a path that is relative',
    { a: { Path: 'srv' } },
    'Node.HostVolumes.a.Path must be an absolute',
  ],
  [
    'too many',
    Object.fromEntries(Array.from({ length: 1025 }, (_, at) => [`v${at}`, data])),
    'Node.HostVolumes has 1025 entries; at most 1024 are kept',
  ],
])('a node is refused with %s', async (_, HostVolumes, message) => {
  const { status, text } = await join({ HostVolumes });
  expect(status).toBe(400);
  expect(JSON.parse(text).errors[0].message).toContain(message);
});

test('a job waits for its volume and runs when a node has it', async () => {
  await join({});
  await api.call('POST', '/v1/jobs', { body: asking() });
  expect(await allocations()).toBe(0);
  await join({ HostVolumes: { data: { ...data, ReadOnly: true } } }, nodeBody().SecretID);
  expect(await allocations()).toBe(0);
  await join({ HostVolumes: { data } }, nodeBody().SecretID);
  expect(await allocations()).toBe(1);
});

test('a system job runs on a node that gets its volume later', async () => {
  await join({});
  const body = jobBody(
    { Type: 'system' },
    { Count: 1, Volumes: { d: { Type: 'host', Source: 'data' } } },
  );
  await api.call('POST', '/v1/jobs', { body });
  expect(await allocations()).toBe(0);
  await join({ HostVolumes: { data } }, nodeBody().SecretID);
  expect(await allocations()).toBe(1);
});

const writes = 'host_volume:mount-readwrite on "data"';
const reads = `host_volume:mount-readonly on "data" or ${writes}`;
test.each<[string, string, object, string]>([
  ['nothing', '', {}, writes],
  ['nothing, to read', '', { ReadOnly: true }, reads],
  ['the right to read', 'host_volume "da*" { policy = "read" }', {}, writes],
  ['the right to read, to read', 'host_volume "data" { policy = "read" }', { ReadOnly: true }, ''],
  ['the right to write', 'host_volume "data" { policy = "write" }', {}, ''],
  [
    'the right to write, to read',
    'host_volume "data" { policy = "write" }',
    { ReadOnly: true },
    '',
  ],
  [
    'the right to write alone, to read',
    'host_volume "data" { capabilities = ["mount-readwrite"] }',
    { ReadOnly: true },
    '',
  ],
  ['a right to another', 'host_volume "date" { policy = "write" }', {}, writes],
  [
    'a right to the allocation’s own',
    'host_volume "data" { policy = "write" }',
    { PerAlloc: true },
    '',
  ],
  ['a right that is taken', 'host_volume "data" { policy = "deny" }', { ReadOnly: true }, reads],
])('with submit-job and %s', async (_, rules, volume, missing) => {
  const token = await aclOf(api).holder(`namespace "default" { policy = "write" }\n${rules}`);
  for (const path of ['/v1/jobs', '/v1/job/web']) {
    const { status, text } = await api.call('POST', path, { body: asking(volume), token });
    expect([status, missing === '' ? '' : text]).toEqual([
      missing === '' ? 200 : 403,
      missing === '' ? '' : expect.stringContaining(JSON.stringify(missing).slice(1, -1)),
    ]);
  }
});

test.each([
  ['invalid groups', { TaskGroups: [null] }],
  ['invalid volumes', { TaskGroups: [{ Name: 'a', Volumes: { d: null } }] }],
  ['no groups', { TaskGroups: null }],
  ['groups of another form', { TaskGroups: {} }],
  ['volumes of another form', { TaskGroups: [{ Name: 'a', Volumes: [5] }] }],
  [
    'a source of another form',
    { TaskGroups: [{ Name: 'a', Volumes: { d: { Type: 'host', Source: { a: 1 } } } }] },
  ],
])('a job with %s is still refused', async (_, changes) => {
  const { status } = await api.call('POST', '/v1/jobs', { body: jobBody(changes) });
  expect(status).toBe(400);
});

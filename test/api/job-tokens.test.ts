import { beforeEach, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let writer: string;
let team: string;
beforeEach(async () => {
  api = await startApi();
  const acl = aclOf(api);
  writer = await acl.holder('service "web" { policy = "write" }');
  await acl.policy('team', { Rules: 'key_prefix "" { policy = "read" }' });
  team = (await acl.token({ Policies: [{ Name: 'team' }] })).SecretID;
});

const job = (Name: string, changes: object) =>
  jobBody(
    changes,
    {
      Services: [{ Name, PortLabel: 'http' }],
      Networks: [{ Mode: 'host', DynamicPorts: [{ Label: 'http' }] }],
    },
    { Secrets: { Policies: ['team'] } },
  );
const unknown = '99999999-9999-4999-8999-999999999999';
const deny = 'permission-denied';

test.each([
  ['no token', 'web', () => ({}), 200, undefined],
  ['one that may register the service', 'web', () => ({ RegistryToken: writer }), 200, undefined],
  ['one that may not', 'api', () => ({ RegistryToken: writer }), 403, deny],
  [
    'a service only known when it runs',
    'web-${node.class}',
    () => ({ RegistryToken: writer }),
    403,
    deny,
  ],
  [
    'a registry token there is not',
    'web',
    () => ({ RegistryToken: unknown }),
    403,
    'job-token-not-found',
  ],
  ['one with the policy', 'web', () => ({ SecretsToken: team }), 200, undefined],
  ['one without the policy', 'web', () => ({ SecretsToken: writer }), 403, deny],
  [
    'management for all',
    'api',
    () => ({ RegistryToken: rootToken, SecretsToken: rootToken }),
    200,
    undefined,
  ],
  [
    'a secrets token there is not',
    'web',
    () => ({ SecretsToken: 'not-a-secret' }),
    403,
    'job-token-not-found',
  ],
])('%s is checked at submission and not stored', async (_title, name, tokens, status, code) => {
  const given = tokens();
  const answer = await api.call('POST', '/v1/jobs', { body: job(name, given) });
  expect([answer.status, answer.json.code], answer.text).toEqual([status, code]);
  for (const secret of Object.values(given)) expect(answer.text).not.toContain(secret);
  const stored = await api.call('GET', '/v1/job/web');
  expect(stored.status).toBe(status === 200 ? 200 : 404);
  if (status === 200) expect(stored.json).toMatchObject({ RegistryToken: '', SecretsToken: '' });
});

test('a revert is checked with its own tokens', async () => {
  for (const Priority of [1, 2]) {
    await api.call('POST', '/v1/jobs', { body: job('api', { Priority }) });
  }
  const revert = (tokens: object) =>
    api.call('POST', '/v1/job/web/revert', { body: { JobID: 'web', ...tokens } });
  expect((await revert({ RegistryToken: writer })).json.code).toBe(deny);
  expect((await revert({ SecretsToken: writer })).json.code).toBe(deny);
  expect((await revert({ SecretsToken: team })).status).toBe(200);
});

test('statuses list jobs by their last change, the newest first, in pages', async () => {
  await api.call('PUT', '/v1/namespace', { body: { Name: 'dev' } });
  const ids = ['a', 'b', 'c', 'd'];
  for (const [at, ID] of ids.entries()) {
    const Namespace = at % 2 === 0 ? 'default' : 'dev';
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID, Namespace }, { Count: at }) });
    await api.settle();
  }
  const list = async (query: string) => {
    const { json, headers } = await api.call('GET', `/v1/jobs/statuses?${query}`);
    const next = headers['x-scheduler-nexttoken'];
    return { ids: json.map(({ ID }: { ID: string }) => ID).join(''), next, json };
  };
  expect((await list('namespace=*')).ids).toBe('dcba');
  expect((await list('namespace=*&reverse=true')).ids).toBe('abcd');
  expect((await list('')).ids).toBe('ca');
  expect((await list('job=a')).ids).toBe('a');
  expect((await list('job=b&namespace=dev')).ids).toBe('b');
  expect((await list('job=b')).ids).toBe('');
  for (const [order, pages] of [
    ['', ['dc', 'ba']],
    ['&reverse=true', ['ab', 'cd']],
  ] as const) {
    const first = await list(`namespace=*&per_page=2${order}`);
    const second = await list(`namespace=*&per_page=2${order}&next_token=${first.next}`);
    expect([first.ids, second.ids, second.next]).toEqual([...pages, undefined]);
  }
  const body = { Jobs: [{ ID: 'a', Namespace: 'default' }, { ID: 'gone' }] };
  const { json } = await api.call('POST', '/v1/jobs/statuses', { body });
  expect(json).toHaveLength(1);
  expect(json[0]).toMatchObject({
    ID: 'a',
    Namespace: 'default',
    Allocs: [],
    GroupCountSum: 0,
    ChildStatuses: null,
    LatestDeployment: null,
    IsPack: false,
    Stop: false,
    Version: 0,
  });
  const many = { Jobs: Array.from({ length: 1001 }, () => ({ ID: 'a' })) };
  expect((await api.call('POST', '/v1/jobs/statuses', { body: many })).status).toBe(400);
  const token = await aclOf(api).holder('namespace "dev" { policy = "read" }');
  const seen = await api.call('GET', '/v1/jobs/statuses?namespace=*', { token });
  expect(seen.json.map(({ ID }: { ID: string }) => ID)).toEqual(['d', 'b']);
});

import { beforeAll, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  await api.call('POST', '/v1/jobs', { body: jobBody() });
});

const unknownToken = '99999999-9999-4999-8999-999999999999';

// One row for each check, in the order of the checks
// (docs/contract/http.md#the-order-of-the-checks).
test.each([
  ['an unknown path', 'GET', '/v1/nothing', {}, 404, 'route-not-found', /openapi/],
  ['a path that cannot be decoded', 'GET', '/v1/job/%zz', {}, 404, 'route-not-found', /./],
  ['a known path, wrong method', 'PATCH', '/v1/jobs', {}, 405, 'method-not-allowed', /GET, HEAD/],
  ['a NUL in the path', 'GET', '/v1/job/a%00b', {}, 400, 'invalid-path', /NUL/],
  ['an unknown token', 'GET', '/v1/jobs', { token: unknownToken }, 403, 'token-not-found', /./],
  ['an invalid token', 'GET', '/v1/jobs', { token: 'x y' }, 403, 'token-not-found', /./],
  ['a bad index', 'GET', '/v1/jobs?index=-1', {}, 400, 'invalid-query', /index must be/],
  ['an index that is no number', 'GET', '/v1/jobs?index=a', {}, 400, 'invalid-query', /index/],
  ['a bad wait', 'GET', '/v1/jobs?index=1&wait=10', {}, 400, 'invalid-query', /wait must be/],
  ['two bad parameters', 'GET', '/v1/jobs?index=a&wait=b', {}, 400, 'invalid-query', /index.*wait/],
  ['a NUL in the query', 'GET', '/v1/jobs?prefix=%00', {}, 400, 'invalid-query', /NUL/],
  ['a NUL in a page token', 'GET', '/v1/jobs?next_token=a.%2500', {}, 400, 'invalid-query', /./],
  ['a bad boolean', 'GET', '/v1/jobs?meta=maybe', {}, 400, 'invalid-query', /meta must be/],
  ['stale and consistent', 'GET', '/v1/jobs?stale&consistent', {}, 400, 'invalid-query', /stale/],
  [
    'cached and consistent',
    'GET',
    '/v1/jobs?cached&consistent',
    {},
    400,
    'invalid-query',
    /cached/,
  ],
  [
    'an index of more than 64 bits',
    'GET',
    '/v1/jobs?index=18446744073709551616',
    {},
    400,
    'invalid-query',
    /index must be an integer from 0 to 18446744073709551615/,
  ],
  ['no body', 'POST', '/v1/jobs', {}, 400, 'body-required', /body/],
  ['malformed JSON', 'POST', '/v1/jobs', { body: '{"Job":' }, 400, 'malformed-json', /JSON/],
  ['bad UTF-8', 'POST', '/v1/jobs', { body: '\ud800' }, 400, 'malformed-json', /./],
  [
    'half a surrogate',
    'POST',
    '/v1/jobs',
    { body: '{"Job":{"ID":"\\ud800"}}' },
    400,
    'malformed-json',
    /half/,
  ],
  ['JSON too deep', 'POST', '/v1/jobs', { body: '['.repeat(99) }, 400, 'json-too-deep', /64/],
  ['an array as body', 'POST', '/v1/jobs', { body: '[]' }, 400, 'invalid-body', /object/],
  ['a wrong type', 'POST', '/v1/jobs', { body: { Job: 1 } }, 400, 'invalid-body', /Job/],
  ['no job', 'POST', '/v1/jobs', { body: {} }, 400, 'invalid-body', /Job is required/],
  ['another region', 'GET', '/v1/jobs?region=mars', {}, 400, 'invalid-query', /"global".*"mars"/],
  ['a stop elsewhere', 'DELETE', '/v1/job/x?region=mars', {}, 400, 'invalid-query', /region/],
  [
    'a NUL as namespace',
    'POST',
    '/v1/jobs',
    { body: jobBody({ Namespace: 'a\0' }) },
    404,
    'namespace-not-found',
    /./,
  ],
  [
    'a job id with NUL',
    'POST',
    '/v1/jobs',
    { body: jobBody({ ID: 'a\0' }) },
    400,
    'invalid-job',
    /ID/,
  ],
  ['no token', 'GET', '/v1/jobs', { token: null }, 403, 'permission-denied', /list-jobs/],
  ['no token, nothing there', 'GET', '/v1/job/x', { token: null }, 403, 'permission-denied', /./],
  [
    'no token, bad job',
    'POST',
    '/v1/jobs',
    { token: null, body: { Job: {} } },
    403,
    'permission-denied',
    /submit-job/,
  ],
  ['a bad filter', 'GET', '/v1/jobs?filter=Status+%3D%3D', {}, 400, 'invalid-filter', /position/],
  ['an unknown selector', 'GET', '/v1/jobs?filter=Stats+==+x', {}, 400, 'invalid-filter', /Stat/],
  ['a job that is not there', 'GET', '/v1/job/x', {}, 404, 'job-not-found', /"x"/],
  [
    'an allocation that is not there',
    'GET',
    '/v1/allocation/x',
    {},
    404,
    'allocation-not-found',
    /./,
  ],
  [
    'an evaluation that is not there',
    'GET',
    '/v1/evaluation/x',
    {},
    404,
    'evaluation-not-found',
    /./,
  ],
  ['a node that is not there', 'GET', '/v1/node/x', {}, 404, 'node-not-found', /./],
  [
    'a guard that fails',
    'POST',
    '/v1/jobs',
    { body: { ...jobBody(), EnforceIndex: true } },
    409,
    'job-exists',
    /web/,
  ],
] as const)('%s: %s %s', async (_title, method, url, options, status, code, detail) => {
  const answer = await api.call(method, url, options);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
  expect(answer.json.detail).toMatch(detail);
  expect(answer.json).toMatchObject({ status, type: `urn:roster:error:${code}` });
  expect(answer.headers['content-type']).toBe('application/problem+json');
});

test('405 and OPTIONS name the methods', async () => {
  expect((await api.call('PATCH', '/v1/jobs')).headers.allow).toBe('OPTIONS, GET, HEAD, POST, PUT');
  const options = await api.call('OPTIONS', '/v1/jobs', { token: null });
  expect([options.status, options.headers.allow]).toEqual([200, 'OPTIONS, GET, HEAD, POST, PUT']);
});

test.each([
  ['{"Name":"a","Rules":"","Name":"b"}', 'Name'],
  ['{"Name":"a","\\u004eame":"b"}', 'Name'],
  ['{"Name":"a","JobACL":{"Group":"g","Group":"{,:"}}', 'Group'],
  ['{"Name":"a","Datacenters":[{},{"__proto__":1,"__proto__":2}]}', '__proto__'],
])('a key that %s has twice is refused with its name', async (body, key) => {
  const { status, json } = await api.call('PUT', '/v1/acl/policy', { body });
  expect([status, json.code]).toEqual([400, 'malformed-json']);
  expect(json.detail).toContain(`an object has the key "${key}" twice`);
});

test('equal keys in two objects, and text that looks like keys, are accepted', async () => {
  const Rules = '# {"Name": "Name", "Name"}\n';
  const JobACL = { Namespace: 'default', JobID: 'Name' };
  const body = { Name: 'twice', Description: '\\"Name":"', Rules, Namespace: 'default', JobACL };
  const { status, json } = await api.call('PUT', '/v1/acl/policy', { body });
  expect([status, json.Rules, json.Description]).toEqual([200, Rules, body.Description]);
});

test('the greatest index of 64 bits waits like any index in the future', async () => {
  const asked = api.call('GET', '/v1/job/web?index=18446744073709551615&wait=5s');
  await api.world.advance(10_000);
  expect((await asked).status).toBe(200);
});

test('all faults of a job are reported at once, each with its position', async () => {
  const bad = jobBody({ Priority: 1000 }, { Count: -1 }, { Name: '', Resources: { CPU: -5 } });
  const { status, json } = await api.call('POST', '/v1/jobs', { body: bad });
  expect(status).toBe(400);
  const places = json.errors.map((error: { pointer: string }) => error.pointer);
  for (const place of ['Priority', 'TaskGroups/0/Count', 'TaskGroups/0/Tasks/0/Name']) {
    expect(places.some((pointer: string) => pointer.endsWith(place))).toBe(true);
  }
});

const token = '11111111-1111-4111-8111-111111111111';
test.each([
  ['the query', `?token=${token}`, {}],
  ['X-Registry-Token', '', { 'x-registry-token': token }],
  ['X-Scheduler-Token', '', { 'x-scheduler-token': token }],
  ['a bearer', '', { authorization: `bearer ${token}` }],
  ['the query before a header', `?token=${token}`, { 'x-registry-token': unknownToken }],
  [
    'an empty header before a bearer',
    '',
    { 'x-registry-token': ' ', authorization: `Bearer ${token}` },
  ],
])('the token comes from %s', async (_title, query, headers) => {
  expect((await api.call('GET', `/v1/jobs${query}`, { token: null, headers })).status).toBe(200);
});

test('pretty answers are indented, and headers have index and leader', async () => {
  const { text, headers } = await api.call('GET', '/v1/job/web?pretty');
  expect(text.startsWith('{\n    "ID": "web"')).toBe(true);
  expect(text.endsWith('}\n')).toBe(true);
  expect(headers).toMatchObject({
    'x-scheduler-knownleader': 'true',
    'x-scheduler-lastcontact': '0',
    'content-type': 'application/json',
  });
  expect(Number(headers['x-scheduler-index'])).toBeGreaterThan(0);
});

test.each(['allow', 'deny'] as const)(
  'answers of the registry tell that %s is the default, refusals as well',
  async (policy) => {
    const { call } = await startApi({ aclDefaultPolicy: policy });
    const header = 'x-registry-default-acl-policy';
    for (const url of ['/v1/acl/policies', '/v1/config/mesh/none', '/v1/acl/policies?index=x']) {
      expect([url, (await call('GET', url)).headers[header]]).toEqual([url, policy]);
    }
    const body = { Kind: 'mesh' };
    expect((await call('PUT', '/v1/config', { body })).headers[header]).toBe(policy);
    expect((await call('GET', '/v1/jobs')).headers).not.toHaveProperty(header);
    const open = await startApi({ aclEnabled: false, aclDefaultPolicy: policy });
    expect((await open.call('GET', '/v1/config/mesh')).headers).not.toHaveProperty(header);
  },
);

test('with access control off every caller has all permissions', async () => {
  const open = await startApi({ aclEnabled: false });
  const answer = await open.call('POST', '/v1/jobs', { token: null, body: jobBody() });
  expect(answer.status).toBe(200);
});

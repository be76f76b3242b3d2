/** Introduction tokens with expiry, number of uses, pool and name pattern. */
import { beforeEach, describe, expect, test } from 'vitest';
import { introductionTokens } from '../../src/state/tables.ts';
import { introduction, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const token = '/v1/node/introduction-token';
const make = async (body: object = {}) => {
  const { status, text, json } = await api.call('PUT', token, { body });
  expect(status, text).toBe(200);
  return json;
};
const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
/** The registration of the node with this number. */
const body = (number: number, changes: object = {}) => ({
  ...nodeBody({ ID: uuid(number), Name: `node-${number}`, ...changes }),
  SecretID: uuid(1000 + number),
});
const join = (secret: string, number: number, changes: object = {}) =>
  api.call('PUT', '/v1/node/register', { token: secret, body: body(number, changes) });
const told = ({ status, json }: { status: number; json: { code?: string } }) => [status, json.code];

test('a token is created, listed without its secret, read and revoked', async () => {
  const made = await make({ Description: 'for builds', NodePool: 'build', Uses: 2, TTL: '30m' });
  const { SecretID, ...shown } = made;
  expect(made).toMatchObject({
    Description: 'for builds',
    NodePool: 'build',
    NodeName: '',
    Uses: 2,
    Used: 0,
    CreateTime: '2026-01-01T00:00:00Z',
    ExpirationTime: '2026-01-01T00:30:00Z',
  });
  expect(SecretID).toMatch(/^[0-9a-f-]{36}$/);
  const { json: list, text } = await api.call('GET', `${token}s?filter=NodePool == "build"`);
  expect([list, text.includes(SecretID)]).toEqual([[shown], false]);
  expect((await api.call('GET', `${token}/${made.ID}`)).json).toEqual(shown);
  expect((await api.call('DELETE', `${token}/${made.ID}`)).json).toBe(true);
  const gone = ['GET', 'DELETE'].map((method) => api.call(method, `${token}/${made.ID}`));
  expect((await Promise.all(gone)).map(told)).toEqual([
    [404, 'introduction-token-not-found'],
    [404, 'introduction-token-not-found'],
  ]);
  expect(told(await join(SecretID, 1, { NodePool: 'build' }))).toEqual([403, 'token-not-found']);
});

test('an empty body creates a token for one node within an hour', async () => {
  const { json } = await api.call('POST', token);
  expect(json).toMatchObject({ Uses: 1, ExpirationTime: '2026-01-01T01:00:00Z' });
});

test('the secret is not stored', async () => {
  const { SecretID } = await make();
  const rows = [...api.state.read().table(introductionTokens).scan()];
  expect(JSON.stringify(rows)).not.toContain(SecretID);
});

test.each<[string, object, string[]]>([
  ['a time that is too short', { TTL: '59s' }, ['TTL must be from one minute to 30 days']],
  ['a time that is too long', { TTL: '721h' }, ['TTL must be from one minute to 30 days']],
  ['an invalid number of uses', { Uses: -1 }, ['Uses must be from 0 to 100000']],
  ['a field that is unknown', { Pool: 'build' }, ['Pool is not a known field']],
  ['a pool that no node is of', { NodePool: 'all' }, ['NodePool must not be "all"']],
  [
    'several faults at once',
    { NodePool: 'a b', NodeName: 'a\nb' },
    ['NodePool must be 1 to 128 letters', 'NodeName must not hold control characters'],
  ],
])('%s is refused', async (_, given, messages) => {
  const { status, json } = await api.call('PUT', token, { body: given });
  expect([status, json.code]).toEqual([400, 'invalid-body']);
  const found = json.errors.map(({ message }: { message: string }) => message);
  expect(found).toHaveLength(messages.length);
  for (const message of messages) expect(found.join('\n')).toContain(message);
});

describe('a token admits', () => {
  test('as many nodes as it allows; repeated registrations count once', async () => {
    const { SecretID, ID } = await make({ Uses: 2 });
    expect((await join(SecretID, 1)).status).toBe(200);
    expect((await join(SecretID, 1)).status).toBe(200);
    expect((await join(SecretID, 2)).status).toBe(200);
    const over = await join(SecretID, 3);
    expect(told(over)).toEqual([403, 'introduction-refused']);
    expect(over.json.detail).toContain('it has been used 2 times already');
    expect((await join(SecretID, 2)).status).toBe(200);
    expect((await api.call('GET', `${token}/${ID}`)).json.Used).toBe(2);
  });

  test('any number of nodes until it expires, when its count is 0', async () => {
    const { SecretID } = await make({ Uses: 0, TTL: '10m' });
    for (const number of [1, 2, 3]) expect((await join(SecretID, number)).status).toBe(200);
    await api.world.advance(10 * 60_000);
    expect(told(await join(SecretID, 4))).toEqual([403, 'token-not-found']);
  });

  test.each<[string, object, object, string | undefined]>([
    ['any pool', {}, { NodePool: 'gpu' }, undefined],
    ['its pool', { NodePool: 'gpu' }, { NodePool: 'gpu' }, undefined],
    ['another pool', { NodePool: 'gpu' }, {}, 'for nodes of the pool "gpu"'],
    ['its name', { NodeName: 'node-1' }, {}, undefined],
    ['another name', { NodeName: 'node-2' }, {}, 'that are called "node-2"'],
    ['a name of its pattern', { NodeName: 'no*-*' }, {}, undefined],
    ['a name with the pattern twice', { NodeName: '*e-1*' }, {}, undefined],
    ['the begin and the end of one letter', { NodeName: 'node-1*1' }, {}, 'called "node-1*1"'],
    ['a pattern that ends otherwise', { NodeName: '*2' }, {}, 'called "*2"'],
    ['a pattern with a dot', { NodeName: 'node.*' }, {}, 'called "node.*"'],
  ])('%s: %j', async (_, request, changes, refused) => {
    const { SecretID } = await make(request);
    const { status, json } = await join(SecretID, 1, changes);
    expect([status, json.code]).toEqual(
      refused === undefined ? [200, undefined] : [403, 'introduction-refused'],
    );
    if (refused !== undefined) expect(json.detail).toContain(refused);
  });

  test('one of two nodes at the same moment', async () => {
    const { SecretID } = await make({ Uses: 1 });
    const answers = await Promise.all([1, 2, 3, 4].map((number) => join(SecretID, number)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403]);
  });

  test('nodes, and allows nothing else', async () => {
    const { SecretID, ID } = await make();
    const { status, json } = await api.call('GET', '/v1/jobs', { token: SecretID });
    expect([status, json.detail]).toEqual([403, expect.stringContaining(`token "${ID}"`)]);
  });
});

describe('a second node with the same name', () => {
  test('is refused while the first is alive', async () => {
    expect((await join(introduction, 1)).status).toBe(200);
    const second = await join(introduction, 2, { Name: 'node-1' });
    expect(told(second)).toEqual([409, 'node-name-taken']);
    expect(second.json.detail).toContain(`"${uuid(1)}" (ready)`);
    await api.world.advance(60_000);
    expect((await api.call('GET', `/v1/node/${uuid(1)}`)).json.Status).toBe('down');
    expect((await join(introduction, 2, { Name: 'node-1' })).status).toBe(200);
    const back = await api.call('PUT', '/v1/node/register', { token: uuid(1001), body: body(1) });
    expect(back.status).toBe(200);
  });

  test('cannot register under another name first', async () => {
    await join(introduction, 1);
    await join(introduction, 2);
    const renamed = body(2, { Name: 'node-1' });
    const { status, json } = await api.call('PUT', '/v1/node/register', {
      token: uuid(1002),
      body: renamed,
    });
    expect([status, json.code]).toEqual([409, 'node-name-taken']);
  });

  test('uses up no token', async () => {
    await join(introduction, 1);
    const { SecretID } = await make();
    expect(told(await join(SecretID, 2, { Name: 'node-1' }))).toEqual([409, 'node-name-taken']);
    expect((await join(SecretID, 2)).status).toBe(200);
  });
});

test('expired tokens are deleted', async () => {
  await make({ TTL: '1m' });
  await api.world.advance(60_000);
  await api.call('PUT', '/v1/system/gc');
  expect((await api.call('GET', `${token}s`)).json).toHaveLength(1);
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { type Called, startApi, type TestApi } from '../support/api.ts';

const secret = 'hunter2-never-shown';
const errors: unknown[] = [];

let api: TestApi;
beforeEach(async () => {
  errors.length = 0;
  const note = (fields: object) => void errors.push(fields);
  api = await startApi({ log: { debug() {}, info() {}, warn: note, error: note } });
});

// No fault is a bug, and none is logged.
afterEach(() => expect(errors).toEqual([]));

const put = (path: string, Items: object, query = '', token?: string) =>
  api.call('PUT', `/v1/var/${path}${query}`, { body: { Items }, ...(token && { token }) });
const get = (path: string, query = '', token?: string) =>
  api.call('GET', `/v1/var/${path}${query}`, { ...(token && { token }) });
const remove = (path: string, query = '', token?: string) =>
  api.call('DELETE', `/v1/var/${path}${query}`, { ...(token && { token }) });
const list = (query = '', token?: string) =>
  api.call('GET', `/v1/vars${query}`, { ...(token && { token }) });
const paths = ({ json }: Called) => json.map(({ Path }: { Path: string }) => Path);

test('a variable is read as written, with indexes and times, and lists show no items', async () => {
  const made = await put('a/b', { user: 'app', password: secret });
  const index = Number(made.headers['x-scheduler-index']);
  const variable = {
    Namespace: 'default',
    Path: 'a/b',
    Items: { user: 'app', password: secret },
    CreateIndex: index,
    ModifyIndex: index,
    CreateTime: Date.UTC(2026, 0, 1) * 1e6,
    ModifyTime: Date.UTC(2026, 0, 1) * 1e6,
  };
  expect(made.json).toEqual(variable);
  const read = await get('a/b');
  expect([read.json, read.headers['x-scheduler-index']]).toEqual([variable, String(index)]);
  expect((await get('a%2Fb')).json).toEqual(variable);
  const { Items: _, ...metadata } = variable;
  expect((await list()).json).toEqual([metadata]);
  await api.world.advance(1000);
  const again = (await put('a/b', { user: 'other' })).json;
  expect(again).toMatchObject({ CreateIndex: index, CreateTime: variable.CreateTime });
  expect(again.ModifyIndex).toBeGreaterThan(index);
  expect(again.ModifyTime).toBe(variable.ModifyTime + 1e9);
  expect((await get('a/b')).json.Items).toEqual({ user: 'other' });
  expect((await remove('a/b')).json).toBe(true);
  expect((await remove('a/b')).json).toBe(false);
  expect(await get('a/b')).toMatchObject({ status: 404, json: { code: 'variable-not-found' } });
});

test('a variable can be sent back as it was read', async () => {
  await put('a', { k: 'v' });
  const { json } = await get('a');
  const sent = await api.call('POST', `/v1/var/a?cas=${json.ModifyIndex}`, { body: json });
  expect(sent.status).toBe(200);
  expect(sent.json.Items).toEqual({ k: 'v' });
});

const long = 'x'.repeat(513);
test.each([
  ['no items', 'a', {}, '/Items'],
  ['an item without a name', 'a', { '': 'x' }, '/Items'],
  ['an item that is no text', 'a', { password: 4711 }, '/Items/password'],
  ['too much', 'a', { k: 'x'.repeat(64 * 1024) }, '/Items'],
  [
    'too many',
    'a',
    Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [at, ''])),
    '/Items',
  ],
  ['a long name', 'a', { ['k'.repeat(257)]: '' }, '/Items'],
  ['a space in the path', 'a%20b', { k: 'v' }, '/Path'],
  ['a path that goes up', 'a/../b', { k: 'v' }, '/Path'],
  ['a slash too many', 'a//b', { k: 'v' }, '/Path'],
  ['a slash at the end', 'a/b%2F', { k: 'v' }, '/Path'],
  ['a path that is too long', long, { k: 'v' }, '/Path'],
  ['a reserved path', 'roster', { k: 'v' }, '/Path'],
  ['another one', 'roster/secrets', { k: 'v' }, '/Path'],
])('refused: %s', async (_, path, Items, pointer) => {
  const { status, json } = await put(path, Items);
  expect([status, json.errors?.map((fault: { pointer: string }) => fault.pointer)]).toEqual([
    400,
    [pointer],
  ]);
  expect((await list()).json).toEqual([]);
  expect(JSON.stringify(json)).not.toContain('4711');
});

test('the largest variables, and those that workloads may read, are accepted', async () => {
  expect((await put('a', { k: 'x'.repeat(64 * 1024 - 1) })).status).toBe(200);
  for (const path of ['roster/jobs', 'roster/jobs/web', 'roster/jobs/web/g/t', 'A-_.~9']) {
    expect((await put(path, { k: 'v' })).status).toBe(200);
  }
  const other = await api.call('PUT', '/v1/var/a', { body: { Path: 'b', Items: { k: 'v' } } });
  expect(other.json).toMatchObject({ code: 'id-mismatch' });
  const unknown = await api.call('PUT', '/v1/var/a', { body: { Item: { k: secret } } });
  expect(unknown.status).toBe(400);
  expect(unknown.text).not.toContain(secret);
  const nowhere = await put('a', { k: 'v' }, '?namespace=nowhere');
  expect(nowhere.json).toMatchObject({ code: 'namespace-not-found' });
});

describe('guards', () => {
  test('0 requires absence, and other numbers an unchanged variable', async () => {
    const first = await put('a', { n: '1' }, '?cas=0');
    expect(first.status).toBe(200);
    const conflict = await put('a', { n: '2' }, '?cas=0');
    expect(conflict).toMatchObject({ status: 409, json: { code: 'variable-conflict' } });
    expect(conflict.json.conflict).toEqual(first.json);
    expect((await put('a', { n: '2' }, `?cas=${first.json.ModifyIndex}`)).status).toBe(200);
    expect((await put('a', { n: '3' }, `?cas=${first.json.ModifyIndex}`)).status).toBe(409);
    expect((await remove('a', `?cas=${first.json.ModifyIndex}`)).status).toBe(409);
    expect((await get('a')).json.Items).toEqual({ n: '2' });
    expect((await put('b', { n: '1' }, '?cas=7')).json.detail).toContain('is not there');
  });

  test('one of many concurrent writes wins', async () => {
    const { json } = await put('a', { n: '0' });
    const writes = Array.from({ length: 20 }, (_, n) =>
      put('a', { n: String(n + 1) }, `?cas=${json.ModifyIndex}`),
    );
    const answers = await Promise.all(writes);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    expect((await get('a')).json.Items).toEqual({ n: String(winner + 1) });
  });

  test('a conflict includes the items for callers who may read the variable', async () => {
    const { json } = await put('a', { n: secret });
    const { Items, ...metadata } = json;
    const holderOf = (capabilities: string) =>
      aclOf(api).holder(
        `namespace "default" { variables { path "*" { capabilities = [${capabilities}] } } }`,
      );
    const reader = await holderOf('"write", "destroy", "read", "list"');
    const body = { Items: { n: '2' } };
    const put2 = await api.call('PUT', '/v1/var/a?cas=1', { body, token: reader });
    expect(put2.json.conflict).toEqual({ ...metadata, Items });
    expect((await remove('a', '?cas=1', reader)).json.conflict).toEqual({ ...metadata, Items });
    const writer = await holderOf('"write", "destroy", "list"');
    const blind = await api.call('PUT', '/v1/var/a?cas=1', { body, token: writer });
    expect([blind.status, blind.json.conflict]).toEqual([409, metadata]);
    expect(blind.text).not.toContain(secret);
  });

  test('a conflict is hidden from callers who may not list the variable', async () => {
    const { json } = await put('a', { n: secret });
    const token = await aclOf(api).holder(
      'namespace "default" { variables { path "*" { capabilities = ["destroy"] } } }',
    );
    const refused = await remove('a', '?cas=1', token);
    expect(refused).toMatchObject({ status: 409, json: { code: 'variable-conflict' } });
    expect(refused.json).not.toHaveProperty('conflict');
    expect(refused.json.detail).not.toContain(String(json.ModifyIndex));
    const missing = await remove('b', '?cas=1', token);
    expect(missing.json.detail.replace('"b"', '"a"')).toBe(refused.json.detail);
  });
});

test('lists have a prefix, pages and a filter, and can include all namespaces', async () => {
  await api.call('PUT', '/v1/namespace/team', { body: {} });
  for (const path of ['a/1', 'a/2', 'ab', 'b']) await put(path, { k: 'v' });
  await put('a/1', { k: 'v' }, '?namespace=team');
  expect(paths(await list())).toEqual(['a/1', 'a/2', 'ab', 'b']);
  expect(paths(await list('?prefix=a/'))).toEqual(['a/1', 'a/2']);
  expect(paths(await list('?reverse=true&per_page=2'))).toEqual(['b', 'ab']);
  const page = await list('?per_page=3');
  expect(paths(page)).toEqual(['a/1', 'a/2', 'ab']);
  const next = page.headers['x-scheduler-nexttoken'];
  expect(paths(await list(`?per_page=3&next_token=${next}`))).toEqual(['b']);
  expect(paths(await list('?filter=Path matches "^a/"'))).toEqual(['a/1', 'a/2']);
  const hidden = await list('?filter=Items is not empty');
  expect(hidden.status).toBe(400);
  const all = (await list('?namespace=*&prefix=a/1')).json;
  expect(all.map(({ Namespace }: { Namespace: string }) => Namespace)).toEqual(['default', 'team']);
  expect((await api.call('DELETE', '/v1/namespace/team')).json.detail).toContain('variables');
});

describe('blocking', () => {
  const parked = (url: string, token?: string) => {
    const seen = { status: 0, code: '' };
    void api.call('GET', url, token ? { token } : {}).then(({ status, json }) => {
      Object.assign(seen, { status, code: json?.code ?? '' });
    });
    return seen;
  };

  test('a read waits for its own variable, even before it exists', async () => {
    const { json } = await put('a', { k: 'v' });
    const read = parked(`/v1/var/a?index=${json.ModifyIndex}&wait=1m`);
    const missing = parked(`/v1/var/c?index=${json.ModifyIndex}&wait=1m`);
    const listed = parked(`/v1/vars?index=${json.ModifyIndex}&wait=1m&prefix=a`);
    await put('b', { k: 'v' });
    await api.settle();
    expect([read.status, missing.status, listed.status]).toEqual([0, 0, 0]);
    await put('c', { k: 'v' });
    await api.settle();
    expect([read.status, missing.status, listed.status]).toEqual([0, 200, 0]);
    await put('a', { k: 'w' });
    await api.settle();
    expect([read.status, listed.status]).toEqual([200, 200]);
  });

  test('a rotation of keys changes no variable and wakes no query', async () => {
    const { json } = await put('a', { k: secret });
    const read = parked(`/v1/var/a?index=${json.ModifyIndex}&wait=1m`);
    await api.call('PUT', '/v1/operator/keyring/rotate');
    await api.settle();
    expect(read.status).toBe(0);
    expect((await get('a')).json).toEqual(json);
    expect((await put('a', { k: 'v' }, `?cas=${json.ModifyIndex}`)).status).toBe(200);
  });

  test('a waiting query whose permission is revoked ends with a 403', async () => {
    const { json } = await put('a', { k: 'v' });
    const rules = 'namespace "default" { variables { path "a" { capabilities = ["read"] } } }';
    const token = await aclOf(api).holder(rules);
    const read = parked(`/v1/var/a?index=${json.ModifyIndex}&wait=1m`, token);
    await api.settle();
    const self = await api.call('GET', '/v1/acl/token/self', { token });
    await api.call('DELETE', `/v1/acl/token/${self.json.AccessorID}`);
    await api.settle();
    expect(read).toEqual({ status: 403, code: 'token-not-found' });
  });
});

test('events of variables are sent to callers who may list them, without items', async () => {
  const rules = 'namespace "default" { variables { path "a/*" { capabilities = ["list"] } } }';
  const token = await aclOf(api).holder(rules);
  const url = '/v1/event/stream?topic=Variable';
  const some = await api.follow(url, token);
  const all = await api.follow(url);
  await put('a/1', { password: secret });
  await put('b', { password: secret });
  await api.call('PUT', '/v1/operator/keyring/rotate');
  await remove('a/1');
  await api.settle();
  const told = ({ lines }: typeof some) =>
    lines.flatMap(({ Events }) => Events ?? []).map(({ Type, Key }) => `${Type} ${Key}`);
  expect(told(some)).toEqual(['VariableUpdated a/1', 'VariableDeleted a/1']);
  expect(told(all)).toEqual(['VariableUpdated a/1', 'VariableUpdated b', 'VariableDeleted a/1']);
  expect(JSON.stringify([some.lines, all.lines])).not.toContain(secret);
  const none = await aclOf(api).holder('namespace "default" { policy = "write" }');
  expect((await api.call('GET', url, { token: none })).status).toBe(403);
});

const capabilities = ['read', 'write', 'list', 'destroy'] as const;
const operations = { read: get, write: put, destroy: remove } as const;

describe('every capability gives exactly its own permissions', () => {
  test.each(capabilities)('%s', async (capability) => {
    await put('a/1', { k: 'v' });
    await put('b/1', { k: 'v' });
    const rules = `namespace "default" { variables { path "a/*" { capabilities = ["${capability}"] } } }`;
    const token = await aclOf(api).holder(rules);
    const lists = capability !== 'destroy';
    expect((await list('', token)).status).toBe(lists ? 200 : 403);
    if (lists) expect(paths(await list('', token))).toEqual(['a/1']);
    expect(paths(await list('?namespace=*', token))).toEqual(lists ? ['a/1'] : []);
    for (const path of ['b/1', 'b/missing', 'a', 'a/1']) {
      const isMine = path === 'a/1';
      for (const [name, run] of Object.entries(operations)) {
        const { status } =
          run === put
            ? await put(path, { k: 'w' }, '', token)
            : await (run as typeof get)(path, '', token);
        expect([path, name, status]).toEqual([
          path,
          name,
          isMine && name === capability ? 200 : 403,
        ]);
      }
    }
  });

  test.each([
    [
      'the longest path decides',
      'path "a/*" { capabilities = ["read"] } path "a/b/*" { capabilities = ["list"] }',
      { 'a/x': 200, 'a/b/c': 403 },
    ],
    [
      'an exact one before all',
      'path "*" { capabilities = ["deny"] } path "a/x" { capabilities = ["read"] }',
      { 'a/x': 200, 'a/b/c': 403 },
    ],
    [
      'a denial before a wider rule',
      'path "*" { capabilities = ["read"] } path "a/b/*" { capabilities = ["deny"] }',
      { 'a/x': 200, 'a/b/c': 403 },
    ],
  ])('%s', async (_, rules, expected) => {
    await put('a/x', { k: 'v' });
    await put('a/b/c', { k: 'v' });
    const token = await aclOf(api).holder(`namespace "default" { variables { ${rules} } }`);
    for (const [path, status] of Object.entries(expected)) {
      expect([path, (await get(path, '', token)).status]).toEqual([path, status]);
    }
  });

  test('in its own namespace only, and never by other rules of the namespace', async () => {
    await api.call('PUT', '/v1/namespace/team', { body: {} });
    await put('a', { k: 'v' });
    await put('a', { k: 'v' }, '?namespace=team');
    const { holder } = aclOf(api);
    const team = await holder(
      'namespace "team" { variables { path "*" { capabilities = ["read"] } } }',
    );
    expect((await get('a', '?namespace=team', team)).status).toBe(200);
    expect((await get('a', '', team)).status).toBe(403);
    const writer = await holder('namespace "*" { policy = "write" }');
    expect((await get('a', '', writer)).status).toBe(403);
    expect((await get('a', '', (await readOnly()).SecretID)).status).toBe(403);
    const explained = await api.call('GET', '/v1/acl/explain?permission=variable:read&name=a', {
      token: writer,
    });
    expect(explained.json.Missing).toBe(
      'namespace "default" { variables { path "a" { capabilities = ["read"] } } }',
    );
  });

  const readOnly = () => aclOf(api).token({ Policies: [{ Name: 'builtin/global-read-only' }] });
});

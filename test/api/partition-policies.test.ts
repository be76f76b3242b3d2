/** The builtin policies of partitions: all permissions in the partition, and none outside. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Route } from '../../src/api/route.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { aclPolicies, inScope } from '../../src/state/tables.ts';
import { managementId, nobody, readOnlyId } from '../support/acl.ts';
import { rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let disk: MemoryDisk;
beforeEach(async () => {
  disk = new MemoryDisk();
  api = await startApi({ disk });
  for (const name of ['west', 'east']) await put(`partition/${name}`);
});

const call = (method: string, path: string, body?: unknown, token: string | null = rootToken) =>
  api.call(method, `/v1/${path}`, { token, ...(body !== undefined && { body }) });
const put = (path: string, body: unknown = {}, token: string | null = rootToken) =>
  call('PUT', path, body, token);
const policiesOf = async (partition: string) =>
  (await call('GET', `acl/policies?partition=${partition}`)).json as { ID: string; Name: string }[];

/** The secret of a token in the partition with these policies. */
async function holder(partition: string, ...names: readonly string[]): Promise<string> {
  const body = { Policies: names.map((Name) => ({ Name })) };
  const { status, json, text } = await put(`acl/token?partition=${partition}`, body);
  if (status !== 200) throw new Error(text);
  return json.SecretID;
}

test('a new partition has builtin policies with their own ids', async () => {
  const [west, east, own] = await Promise.all(['west', 'east', 'default'].map(policiesOf));
  for (const some of [west!, east!]) {
    expect(some.map(({ Name }) => Name).sort()).toEqual([
      'builtin/global-read-only',
      'global-management',
    ]);
  }
  const ids = [...west!, ...east!, ...own!].map(({ ID }) => ID);
  expect(new Set(ids).size).toBe(6);
  expect(own!.map(({ ID }) => ID).sort()).toEqual([managementId, readOnlyId]);
});

const creations: readonly (readonly [path: string, body: object])[] = [
  ['acl/policy', { Name: 'p', Rules: 'operator = "write"' }],
  ['acl/role', { Name: 'r', Policies: [{ Name: 'global-management' }] }],
  ['acl/token', { Policies: [{ Name: 'global-management' }] }],
  ['acl/token?ns=team', { Policies: [{ Name: 'builtin/global-read-only' }] }],
  ['namespace/shop', {}],
  ['config', { Kind: 'service-defaults', Name: 'web', Protocol: 'http' }],
  ['config?ns=team', { Kind: 'service-defaults', Name: 'web', Protocol: 'http' }],
  ['config', { Kind: 'mesh' }],
];

describe('the management policy of a partition', () => {
  test.each(creations)('permits writing %s in its partition only', async (path, body) => {
    await put('namespace/team?partition=west');
    const manager = await holder('west', 'global-management');
    const reader = await holder('west', 'builtin/global-read-only');
    const at = (partition: string) =>
      `${path}${path.includes('?') ? '&' : '?'}partition=${partition}`;
    for (const place of ['default', 'east']) {
      expect([place, (await put(at(place), body, manager)).status]).toEqual([place, 403]);
    }
    expect((await put(at('west'), body, reader)).status).toBe(403);
    expect((await put(at('west'), body, manager)).status).toBe(200);
  });

  test.each([
    'acl/policies',
    'acl/tokens',
    'acl/roles',
    'acl/auth-methods',
    'acl/binding-rules',
    'config/service-defaults',
    'peerings',
    'namespace/team',
    'exported-services',
  ])('permits reading %s in its partition, as read-only does', async (path) => {
    await put('namespace/team?partition=west');
    await put('namespace/team?partition=east');
    for (const name of ['global-management', 'builtin/global-read-only']) {
      const token = await holder('west', name);
      const mine = await call('GET', `${path}?partition=west`, undefined, token);
      const all = await call('GET', `${path}?partition=west`);
      // Secrets are shown to callers who may write them.
      const text = all.text.replaceAll(/"SecretID":"[^"]*"/g, '"SecretID":"<hidden>"');
      expect([mine.status, mine.json]).toEqual([
        200,
        JSON.parse(name === 'global-management' ? all.text : text),
      ]);
      const other = await call('GET', `${path}?partition=east`, undefined, token);
      expect(other.status === 403 || other.json.length === 0).toBe(true);
    }
  });

  test('cannot be used to link the management policy of the cluster or of another partition', async () => {
    const manager = await holder('west', 'global-management');
    const { ID } = (await policiesOf('east'))[0]!;
    const link = (id: string) => put('acl/token', { Policies: [{ ID: id }] }, manager);
    expect((await link(managementId)).status).toBe(403);
    expect((await link(readOnlyId)).status).toBe(403);
    expect((await link(ID)).status).toBe(400);
  });

  test('gives outside its partition no more than a token without policies has', async () => {
    const manager = await holder('west', 'global-management');
    const nothing = await holder('west');
    let denied = 0;
    for (const route of api.api.routes) {
      // Each caller is shown its own refusals, and has others.
      if (route.endpoint.path === '/v1/acl/denials') continue;
      const path = `${pathOf(route)}?partition=default`;
      const body = route.endpoint.body === undefined ? {} : { body: {} };
      const signal = AbortSignal.abort();
      const answer = async (token: string) => {
        const { status, json } = await api.call(route.method, path, { ...body, token, signal });
        return [route.method, path, status, json?.code, Array.isArray(json) && json.length];
      };
      const [withIt, without] = [await answer(manager), await answer(nothing)];
      expect(withIt).toEqual(without);
      if (withIt[3] === 'permission-denied') denied++;
    }
    expect(denied).toBeGreaterThan(100);
  });
});

/** Unknown records. */
const pathOf = ({ path }: Route): string =>
  path.replace(/:([a-z_]+)\+?/g, (_, name) =>
    name === 'kind' ? 'service-defaults' : name === 'name' ? 'missing' : nobody,
  );

test('the builtin policies cannot be changed or deleted, and are deleted with their partition', async () => {
  for (const { ID, Name } of await policiesOf('west')) {
    const path = `acl/policy/${ID}?partition=west`;
    for (const answer of [
      await put(path, { Name, Rules: 'acl = "read"' }),
      await put(path, { Name, Datacenters: ['dc1'] }),
      await call('DELETE', path),
    ]) {
      expect(answer.json.code).toBe('builtin-protected');
    }
    expect((await put(path, { Name, Description: 'ours' })).status).toBe(200);
  }
  expect((await call('DELETE', 'partition/west')).json).toBe(true);
  await put('partition/west');
  expect((await call('DELETE', 'partition/east')).json).toBe(true);
  const left = [...api.state.read().table(aclPolicies).scan()].map(({ Partition }) => Partition);
  expect(left.sort()).toEqual(['default', 'default', 'west', 'west']);
});

test("a partition from an earlier version gets them at the server's start", async () => {
  const home = { namespace: 'default', partition: 'west' };
  await put('acl/policy?partition=east', { Name: 'mine' });
  await api.state.write((transaction) => {
    const policies = transaction.table(aclPolicies);
    for (const { ID } of [...policies.scan({ prefix: inScope(home) })]) {
      policies.delete(...inScope(home, ID));
    }
  });
  // The name was free before.
  await put('acl/policy?partition=west', { Name: 'global-management', Rules: 'acl = "read"' });
  const before = await policiesOf('east');
  api.server.stop();
  await api.state.close();
  api = await startApi({ disk });
  expect(await policiesOf('east')).toEqual(before);
  expect((await policiesOf('west')).map(({ Name }) => Name).sort()).toEqual([
    'builtin/global-management',
    'builtin/global-read-only',
    'global-management',
  ]);
  const manager = await holder('west', 'builtin/global-management');
  expect((await put('namespace/shop', {}, manager)).status).toBe(200);
});

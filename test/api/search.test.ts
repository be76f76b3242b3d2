import { beforeAll, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;

beforeAll(async () => {
  api = await startApi();
  acl = aclOf(api);
  for (const Name of ['shop', 'west']) await api.call('PUT', '/v1/namespace', { body: { Name } });
  await new Fleet(api).join(2);
  for (const [ID, namespace] of [
    ['web', 'default'],
    ['web-admin', 'default'],
    ['api', 'default'],
    ['web', 'shop'],
    ['Cart', 'shop'],
  ] as const) {
    const body = jobBody({ ID, Namespace: namespace }, { Name: `${ID}-group`, Count: 1 });
    const { status, text } = await api.call('POST', `/v1/jobs?namespace=${namespace}`, { body });
    if (status !== 200) throw new Error(text);
  }
  await api.world.advance(5000);
  await api.call('PUT', '/v1/var/app/web?namespace=shop', { body: { Items: { a: 'b' } } });
  await api.call('PUT', '/v1/config', { body: { Kind: 'service-defaults', Name: 'webshop' } });
  await acl.policy('web-readers', { Rules: 'namespace "shop" { policy = "read" }' });
});

const prefix = (Prefix: string, Context = 'all', token = rootToken, query = '?namespace=*') =>
  api.call('POST', `/v1/search${query}`, { token, body: { Prefix, Context } });
const fuzzy = (Text: string, Context = 'all', token = rootToken, query = '?namespace=*') =>
  api.call('POST', `/v1/search/fuzzy${query}`, { token, body: { Text, Context } });
const found = ({ json }: { json: { Matches: Record<string, unknown[]> } }) =>
  Object.fromEntries(Object.entries(json.Matches).filter(([, list]) => list.length > 0));

describe('by the beginning', () => {
  test('ids and names are found by context', async () => {
    const answer = await prefix('web');
    expect(answer.status).toBe(200);
    expect(found(answer)).toEqual({
      jobs: ['web', 'web', 'web-admin'],
      config_entries: ['webshop'],
      policies: ['web-readers'],
    });
    expect(answer.json.Truncations.jobs).toBe(false);
    expect(Number(answer.headers['x-scheduler-index'])).toBeGreaterThan(0);
  });

  test('in one namespace, and in one context', async () => {
    expect(found(await prefix('web', 'jobs', rootToken, '?namespace=shop'))).toEqual({
      jobs: ['web'],
    });
    expect(found(await prefix('app/', 'vars'))).toEqual({ vars: ['app/web'] });
    expect((await prefix('web', 'vars')).json.Matches).toEqual({ vars: [] });
  });

  test('allocations, evaluations and nodes are found by their ids, nodes by their names too', async () => {
    const { json: list } = await api.call('GET', '/v1/allocations?namespace=*');
    const [{ ID, EvalID, NodeID, NodeName }] = list;
    const begin = (id: string) => id.slice(0, 8);
    expect((await prefix(begin(ID), 'allocs')).json.Matches.allocs).toEqual([ID]);
    expect((await prefix(begin(EvalID), 'evals')).json.Matches.evals).toContain(EvalID);
    expect((await prefix(begin(NodeID), 'nodes')).json.Matches.nodes).toContain(NodeID);
    expect((await prefix(NodeName, 'nodes')).json.Matches.nodes).toContain(NodeName);
  });

  test('no more than 20 of a context are listed, and it is said that there are more', async () => {
    const one = await startApi();
    for (let at = 0; at < 21; at++) {
      await one.call('POST', '/v1/jobs', {
        body: jobBody({ ID: `j${String(at).padStart(2, '0')}` }),
      });
    }
    const ask = async (Prefix: string) =>
      (await one.call('POST', '/v1/search', { body: { Prefix, Context: 'jobs' } })).json;
    const all = await ask('j');
    expect([all.Matches.jobs.length, all.Matches.jobs[0], all.Truncations]).toEqual([
      20,
      'j00',
      { jobs: true },
    ]);
    expect((await ask('j1')).Truncations).toEqual({ jobs: false });
  });
});

describe('by a part', () => {
  test('jobs, their groups and tasks, and everything with a name are found, the best first', async () => {
    const { json } = await fuzzy('WEB');
    expect(json.Matches.jobs).toEqual([
      { ID: 'web', Scope: ['default', 'web'] },
      { ID: 'web', Scope: ['shop', 'web'] },
      { ID: 'web-admin', Scope: ['default', 'web-admin'] },
    ]);
    expect(json.Matches.groups).toContainEqual({ ID: 'web-group', Scope: ['shop', 'web'] });
    expect(json.Matches.vars).toEqual([{ ID: 'app/web', Scope: ['shop', 'app/web'] }]);
    expect(json.Matches.config_entries).toEqual([
      { ID: 'webshop', Scope: ['default', 'service-defaults', 'webshop'] },
    ]);
    expect(json.Matches.allocs.map(({ ID }: { ID: string }) => ID)).toContain('web.web-group[0]');
    expect((await fuzzy('server', 'tasks')).json.Matches.tasks).toHaveLength(5);
    expect(found(await fuzzy('art'))).toMatchObject({
      jobs: [{ ID: 'Cart', Scope: ['shop', 'Cart'] }],
    });
  });

  test.each([
    ['an empty text', { Text: '' }, '/Text'],
    ['one character', { Text: 'w' }, '/Text'],
    ['a long text', { Text: 'w'.repeat(129) }, '/Text'],
    ['a NUL character', { Text: 'we\0b' }, '/Text'],
    ['an unknown context', { Text: 'web', Context: 'x' }, '/Context'],
    ['an unknown field', { Text: 'web', Prefix: 'x' }, '/Prefix'],
  ])('is refused with %s', async (_title, body, pointer) => {
    const { status, json } = await api.call('POST', '/v1/search/fuzzy', { body });
    expect([status, json.errors?.[0].pointer]).toEqual([400, pointer]);
  });

  test('the beginning is refused where only a part can be searched', async () => {
    expect((await prefix('x', 'groups')).status).toBe(400);
  });
});

describe('a caller finds only what its token may list', () => {
  test('jobs of its namespace, and nothing of others', async () => {
    const token = await acl.holder('namespace "shop" { policy = "read" }');
    const answer = await fuzzy('we', 'all', token);
    expect(found(answer)).toMatchObject({ jobs: [{ ID: 'web', Scope: ['shop', 'web'] }] });
    expect(JSON.stringify(answer.json)).not.toMatch(/default|policies":\[\{|webshop/);
    expect(found(await prefix('', 'nodes', token))).toEqual({});
    expect(found(await prefix('', 'namespaces', token))).toEqual({ namespaces: ['shop'] });
  });

  test('names of jobs without what is in them, where it may list jobs only', async () => {
    const token = await acl.holder('namespace "shop" { capabilities = ["list-jobs"] }');
    expect(found(await fuzzy('cart', 'all', token))).toEqual({
      jobs: [{ ID: 'Cart', Scope: ['shop', 'Cart'] }],
    });
  });

  test('nothing without rules, and nothing of access control where that is off', async () => {
    expect(found(await prefix('', 'all', await acl.holder('')))).toEqual({});
    const open = await startApi({ aclEnabled: false });
    await open.call('POST', '/v1/jobs', { body: jobBody() });
    const { json } = await open.call('POST', '/v1/search', { body: { Prefix: '' } });
    expect(json.Matches).toMatchObject({ jobs: ['web'], tokens: [], policies: [] });
  });
});

test('tokens are found by accessor and description, never by secret', async () => {
  const { AccessorID, SecretID } = await acl.token({ Description: 'for the webhook' });
  const hit = { ID: 'for the webhook', Scope: ['default', AccessorID] };
  expect((await fuzzy('webhook', 'tokens')).json.Matches.tokens).toEqual([hit]);
  expect((await prefix(AccessorID, 'tokens')).json.Matches.tokens).toEqual([AccessorID]);
  for (const ask of [prefix, fuzzy]) {
    expect(found(await ask(SecretID))).toEqual({});
  }
});

import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';

let api: TestApi;

const ids = ['delta', 'Alpha', 'charlie', 'bravo', 'echo'];
const priorities = [50, 10, 50, 90, 10];

beforeAll(async () => {
  api = await startApi();
  const fleet = new Fleet(api);
  await fleet.join(3);
  await api.call('PUT', '/v1/namespace', { body: { Name: 'shop' } });
  for (const [at, ID] of ids.entries()) {
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID, Priority: priorities[at] }) });
    await api.world.advance(1000);
  }
  await api.call('POST', '/v1/jobs?namespace=shop', {
    body: jobBody({ ID: 'beta', Namespace: 'shop' }),
  });
  await fleet.pass(5000);
  await addRecords();
});

/** Two records of each other noun, in the order that the sort turns around. */
async function addRecords(): Promise<void> {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const put = async (path: string, body: object, method = 'PUT') => {
    const asked = api.call(method, `/v1/${path}`, { body });
    await api.settle();
    const { status, text } = await asked;
    expect([path, status === 200 ? '' : text]).toEqual([path, '']);
  };
  for (const name of ['second', 'first']) {
    const named = { Name: name, Description: `the ${name}` };
    await put('acl/policy', named);
    await put('acl/token', { Description: name, Policies: [{ Name: name }] });
    await put('acl/role', named);
    const Config = { JWTValidationPubKeys: [key] };
    await put('acl/auth-method', { ...named, Type: 'jwt', MaxTokenTTL: '1h', Config });
    await put('acl/binding-rule', { AuthMethod: name, BindType: 'policy', BindName: name });
    await put('namespace', named);
    await put('partition', named);
    await put(`var/${name}`, { Items: { a: 'b' } });
    await put('config', { Kind: 'service-defaults', Name: name });
    const ServerExternalAddresses = ['a.example:4720'];
    await put('peering/token', { PeerName: name, ServerExternalAddresses }, 'POST');
  }
  const ids = (await get('/v1/nodes')).json.map(({ ID }: { ID: string }) => ID).toReversed();
  for (const [at, NodeID] of ids.entries()) {
    await put('acl/token', { Description: `ends ${at}`, ExpirationTTL: `${ids.length - at}h` });
    await put('plan', { Kind: 'eligibility', NodeID, Eligibility: 'ineligible' }, 'POST');
    await api.world.advance(1000);
  }
}

const get = (url: string, token?: string) =>
  api.call('GET', url, token === undefined ? {} : { token });
const totalOf = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
  headers['x-scheduler-total'];

/** All pages of a list, one after the other. */
async function pages(url: string, perPage: number) {
  const found: { ID: string; Name: string }[][] = [];
  for (let next = ''; ; ) {
    const answer = await get(`${url}&per_page=${perPage}&next_token=${encodeURIComponent(next)}`);
    expect(answer.status).toBe(200);
    found.push(answer.json);
    const { headers } = answer;
    next = headers['x-scheduler-nexttoken'] ?? headers['x-registry-nexttoken'] ?? '';
    if (next === '') return found;
  }
}
const idsOf = (rows: readonly { readonly ID: string }[]) => rows.map(({ ID }) => ID);

describe('a sorted list', () => {
  const inOrder = ['Alpha', 'bravo', 'charlie', 'delta', 'echo'];

  test.each([
    ['/v1/jobs?sort=ID', inOrder],
    ['/v1/jobs?sort=ID&reverse', inOrder.toReversed()],
    ['/v1/jobs/statuses?sort=Name', inOrder],
    ['/v1/jobs?sort=Priority', ['Alpha', 'echo', 'charlie', 'delta', 'bravo']],
    ['/v1/jobs?sort=Priority&reverse', ['bravo', 'delta', 'charlie', 'echo', 'Alpha']],
    ['/v1/jobs?sort=SubmitTime', ids],
    [
      `/v1/jobs?sort=ID&filter=${encodeURIComponent('Priority != 10')}`,
      ['bravo', 'charlie', 'delta'],
    ],
    ['/v1/jobs?namespace=*&sort=ID', ['Alpha', 'beta', 'bravo', 'charlie', 'delta', 'echo']],
  ])('%s is in order, on one page and on many', async (url, wanted) => {
    const [whole] = await pages(url, 100);
    expect(idsOf(whole!)).toEqual(wanted);
    const parts = await pages(url, 2);
    expect(parts.map(({ length }) => length)).toEqual(
      Array.from({ length: Math.ceil(wanted.length / 2) }, (_, at) =>
        Math.min(2, wanted.length - 2 * at),
      ),
    );
    expect(idsOf(parts.flat())).toEqual(wanted);
  });

  test.each([
    ['/v1/allocations?sort=JobID', 'JobID'],
    ['/v1/allocations?sort=NodeName', 'NodeName'],
    ['/v1/evaluations?sort=JobID', 'JobID'],
    ['/v1/nodes?sort=Name', 'Name'],
    ['/v1/nodes/topology?sort=Name', 'Name'],
    ['/v1/job/delta/allocations?sort=Name', 'Name'],
    ['/v1/deployments?sort=JobID', 'JobID'],
    ['/v1/acl/tokens?sort=Description', 'Description'],
    ['/v1/acl/policies?sort=Description', 'Description'],
    ['/v1/acl/roles?sort=Name', 'Name'],
    ['/v1/acl/auth-methods?sort=Type', 'Type'],
    ['/v1/acl/binding-rules?sort=BindName', 'BindName'],
    ['/v1/namespaces?sort=Description', 'Description'],
    ['/v1/partitions?sort=Description', 'Description'],
    ['/v1/vars?sort=Path', 'Path'],
    ['/v1/config?sort=Name', 'Name'],
    ['/v1/peerings?sort=Name', 'Name'],
    ['/v1/plans?sort=Name', 'Name'],
    ['/v1/plans?sort=ExpiresAt', 'ExpiresAt'],
    ['/v1/allocations?namespace=*&sort=Namespace', 'Namespace'],
    ['/v1/jobs?namespace=*&sort=Namespace', 'Namespace'],
  ])('%s is in order', async (url, field) => {
    const [rows] = await pages(url, 100);
    const values = rows!.map((row) => String(row[field as 'Name']).toLowerCase());
    expect(values.length).toBeGreaterThan(0);
    expect(values).toEqual(values.toSorted());
    expect((await pages(url, 1)).flat()).toEqual(rows);
  });

  test('of tokens has those that never end at its end', async () => {
    const [rows] = await pages('/v1/acl/tokens?sort=ExpirationTime', 100);
    const ends = rows!.map((row) => (row as { ExpirationTime?: string }).ExpirationTime ?? '~');
    expect(ends[0]).not.toBe('~');
    expect(ends.at(-1)).toBe('~');
    expect(ends).toEqual(ends.toSorted());
  });

  test('says how many records there are on all pages', async () => {
    expect(totalOf(await get('/v1/jobs?sort=ID&per_page=2'))).toBe('5');
    expect(totalOf(await get('/v1/jobs?sort=ID&per_page=2&namespace=*'))).toBe('6');
  });

  test('counts and shows only what the caller may see', async () => {
    const token = await aclOf(api).holder('namespace "shop" { policy = "read" }');
    const answer = await get('/v1/jobs?sort=ID&per_page=2&namespace=*', token);
    expect([idsOf(answer.json), totalOf(answer)]).toEqual([['beta'], '1']);
  });

  test('wakes a blocking query when a record changes', async () => {
    const { headers } = await get('/v1/jobs?sort=ID&per_page=2');
    const index = headers['x-scheduler-index'];
    const waiting = get(`/v1/jobs?sort=ID&per_page=2&index=${index}&wait=1m`);
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'aaa' }) });
    expect(idsOf((await waiting).json)).toEqual(['aaa', 'Alpha']);
    await api.call('DELETE', '/v1/job/aaa?purge=true');
  });

  test.each([
    ['an unknown field', 'sort=Meta&per_page=1', /must be one of ID, Name/],
    ['no size of a page', 'sort=ID', /must be from 1 to 500/],
    ['a large page', 'sort=ID&per_page=501', /must be from 1 to 500/],
    ['the token of an unsorted page', 'sort=ID&per_page=1&next_token=default.delta', /same order/],
    [
      'the token of the other direction',
      'sort=ID&per_page=1&reverse&next_token=ID.up.a',
      /same order/,
    ],
  ])('is refused with %s', async (_title, query, reason) => {
    const { status, json } = await get(`/v1/jobs?${query}`);
    expect([status, json.code]).toEqual([400, 'invalid-query']);
    expect(json.detail).toMatch(reason);
  });
});

describe('a count', () => {
  test('is of all pages, on the first and on a later one', async () => {
    const first = await get('/v1/jobs?per_page=2&total');
    const next = first.headers['x-scheduler-nexttoken'];
    const second = await get(`/v1/jobs?per_page=2&total&next_token=${next}`);
    expect([totalOf(first), totalOf(second)]).toEqual(['5', '5']);
    const plain = await get('/v1/jobs?per_page=2');
    expect([first.json, first.headers['x-scheduler-nexttoken']]).toEqual([
      plain.json,
      plain.headers['x-scheduler-nexttoken'],
    ]);
    expect(totalOf(plain)).toBeUndefined();
    expect(idsOf(second.json)).toEqual(idsOf((await get('/v1/jobs')).json).slice(2, 4));
  });

  test('leaves out records that the filter leaves out, or that the caller may not see', async () => {
    const filter = encodeURIComponent('Priority != 10');
    expect(totalOf(await get(`/v1/jobs?per_page=1&total&filter=${filter}`))).toBe('3');
    const token = await aclOf(api).holder('namespace "shop" { policy = "read" }');
    expect(totalOf(await get('/v1/jobs?per_page=1&total&namespace=*', token))).toBe('1');
  });
});

/** Services found by name, instance, job and allocation. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { aclOf } from '../support/acl.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf, secretOf } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
let warnings: { readonly node: string }[];
beforeEach(async () => {
  warnings = [];
  const warn = (fields: object) => void warnings.push(fields as { node: string });
  api = await startApi({ log: { debug() {}, info() {}, warn, error() {} } });
  fleet = new Fleet(api);
  await fleet.join(2);
});

const submit = async (changes: object = {}, group: object = {}, query = '') => {
  const body = jobBody(changes, group);
  const { status, text } = await api.call('POST', `/v1/jobs${query}`, { body });
  expect(status, text).toBe(200);
  await api.settle();
};
const get = async (url: string) => {
  const { status, json, text } = await api.call('GET', url);
  expect(status, text).toBe(200);
  return json;
};
const allocationsOf = async (job = 'web', query = ''): Promise<Allocation[]> =>
  (await get(`/v1/job/${job}/allocations${query}`)).filter(
    ({ DesiredStatus }: Allocation) => DesiredStatus === 'run',
  );
const nodeOf = ({ NodeID }: Pick<Allocation, 'NodeID'>): number => Number(NodeID.slice(7, 8));

const told = (allocation: string, ServiceName: string, fields: object = {}) => ({
  ID: `${allocation}-group-${ServiceName}-http`,
  ServiceName,
  Address: '10.0.0.1',
  Port: 8080,
  ...fields,
});
const tell = (n: number, reports: object, token: string | null = secretOf(n)) =>
  api.call('PUT', `/v1/node/${idOf(n)}/services`, {
    body: { Allocations: reports },
    token,
    address: '10.0.0.9',
  });
/** Registers these names for the allocation, by its node. */
const serve = async (allocation: Allocation, names: readonly string[], fields: object = {}) => {
  const { ID: AllocID } = allocation;
  const Services = names.map((name) => told(AllocID, name, fields));
  const { status, text } = await tell(nodeOf(allocation), [{ AllocID, Services }]);
  expect(status, text).toBe(200);
};
const instances = (name: string, query = ''): Promise<ServiceRegistration[]> =>
  get(`/v1/service/${name}${query}`);

describe('services are listed', () => {
  test('with the numbers of instances by status and their jobs, if asked', async () => {
    await submit({}, { Count: 2 });
    await submit({ ID: 'other' });
    const [one, two] = await allocationsOf();
    const [third] = await allocationsOf('other');
    await serve(one!, ['shared'], { Status: 'passing', Tags: ['b'] });
    await serve(two!, ['shared'], { Status: 'critical', Tags: ['a'] });
    await serve(third!, ['shared', 'alone'], { Status: 'passing' });
    expect(await get('/v1/services?counts')).toEqual([
      {
        Namespace: 'default',
        Services: [
          { ServiceName: 'alone', Tags: [], Statuses: { passing: 1 }, JobIDs: ['other'] },
          {
            ServiceName: 'shared',
            Tags: ['a', 'b'],
            Statuses: { critical: 1, passing: 2 },
            JobIDs: ['other', 'web'],
          },
        ],
      },
    ]);
    const [plain] = await get('/v1/services');
    expect(plain.Services[1]).toEqual({ ServiceName: 'shared', Tags: ['a', 'b'] });
  });

  beforeEach(async () => {
    await api.call('PUT', '/v1/namespace/dev', { body: {} });
    await submit({}, { Count: 3 });
    await submit({ ID: 'shop' }, { Count: 1 }, '?namespace=dev');
    for (const [n, allocation] of (await allocationsOf()).entries()) {
      const Status = n === 0 ? 'pending' : 'passing';
      await serve(allocation, ['web', `own-${n}`], { Tags: [`t${n}`, 'all'], Status });
    }
    const [shop] = await allocationsOf('shop', '?namespace=dev');
    await serve(shop!, ['web', 'shop'], { Status: 'critical' });
  });

  test('by name and namespace, with the tags of all instances', async () => {
    const own = (n: number) => ({ ServiceName: `own-${n}`, Tags: ['all', `t${n}`] });
    const web = { ServiceName: 'web', Tags: ['all', 't0', 't1', 't2'] };
    const inDefault = { Namespace: 'default', Services: [own(0), own(1), own(2), web] };
    expect(await get('/v1/services')).toEqual([inDefault]);
    const dev = ['shop', 'web'].map((ServiceName) => ({ ServiceName, Tags: [] }));
    expect(await get('/v1/services?namespace=*')).toEqual(
      [inDefault, { Namespace: 'dev', Services: dev }].sort((left, right) =>
        left.Namespace < right.Namespace ? -1 : 1,
      ),
    );
    expect(await get('/v1/services?namespace=none')).toEqual([]);
  });

  test('with filters', async () => {
    const filtered = async (filter: string) =>
      (await get(`/v1/services?namespace=*&filter=${encodeURIComponent(filter)}`)).flatMap(
        ({ Services }: { Services: { ServiceName: string }[] }) =>
          Services.map(({ ServiceName }) => ServiceName),
      );
    expect(await filtered('ServiceName == "shop"')).toEqual(['shop']);
    expect(await filtered('"t1" in Tags')).toEqual(['own-1', 'web']);
    expect(await filtered('Namespace == "dev"')).toEqual(['shop', 'web']);
    expect((await api.call('GET', '/v1/services?filter=Nothing==1')).status).toBe(400);
  });

  test.each([
    ['ServiceName', ['own-0', 'own-1', 'own-2', 'shop', 'web', 'web']],
    ['Namespace', ['own-0', 'own-1', 'own-2', 'web', 'shop', 'web']],
    ['Statuses', ['own-1', 'own-2', 'own-0', 'web', 'shop', 'web']],
  ])('sorted by %s, on one page and on many', async (sort, wanted) => {
    const sorted = async (perPage: number, reverse: boolean) => {
      const found: { ServiceName: string }[] = [];
      for (let token: string | undefined = ''; token !== undefined; ) {
        const query = `sort=${sort}&namespace=*&per_page=${perPage}&reverse=${reverse}&next_token=${token}`;
        const { json, headers } = await api.call('GET', `/v1/services?${query}`);
        expect(headers['x-scheduler-total']).toBe('6');
        found.push(...json.flatMap(({ Services }: { Services: [] }) => Services));
        token = headers['x-scheduler-nexttoken'];
      }
      return found.map(({ ServiceName }) => ServiceName);
    };
    for (const reverse of [false, true]) {
      const inOrder = reverse ? wanted.toReversed() : wanted;
      expect(await sorted(100, reverse)).toEqual(inOrder);
      expect(await sorted(1, reverse)).toEqual(inOrder);
    }
  });

  test('sorted by name, a namespace begins a new group where another comes between', async () => {
    const groups = await get('/v1/services?namespace=*&sort=ServiceName&per_page=100');
    const namespaces = groups.map(({ Namespace }: { Namespace: string }) => Namespace);
    expect(namespaces).toEqual(['default', 'dev', 'default', 'dev']);
  });

  test('its instances in the order of a field, but not those of a choice', async () => {
    const rows = await get('/v1/service/web?namespace=*&sort=Status&per_page=100');
    const statuses = rows.map(({ Status }: ServiceRegistration) => Status);
    expect([statuses[0], statuses.length]).toEqual(['critical', 4]);
    expect(statuses).toEqual(statuses.toSorted());
    const chosen = await api.call('GET', '/v1/service/web?sort=Status&per_page=100&choose=2|k');
    expect([chosen.status, chosen.json.detail]).toEqual([
      400,
      expect.stringContaining('must not be given for a choice among all records'),
    ]);
  });

  test.each([false, true])('by page, reversed: %s', async (reverse) => {
    const pages: string[][] = [];
    let token = '';
    do {
      const query = `namespace=*&per_page=2&reverse=${reverse}&next_token=${token}`;
      const { json, headers } = await api.call('GET', `/v1/services?${query}`);
      pages.push(
        json.flatMap(({ Namespace, Services }: { Namespace: string; Services: [] }) =>
          Services.map(({ ServiceName }) => `${Namespace}/${ServiceName}`),
        ),
      );
      token = headers['x-scheduler-nexttoken'] ?? '';
    } while (token !== '');
    const all = ['default/own-0', 'default/own-1', 'default/own-2', 'default/web'];
    all.push('dev/shop', 'dev/web');
    expect(pages.flat()).toEqual(reverse ? all.toReversed() : all);
    expect(pages).toHaveLength(3);
  });

  test('by instance, in one namespace or all, with filters and pages', async () => {
    expect(await instances('web')).toHaveLength(3);
    expect(await instances('none')).toEqual([]);
    const everywhere = await instances('web', '?namespace=*');
    expect(everywhere.map(({ Namespace }) => Namespace)).toEqual([
      'default',
      'default',
      'default',
      'dev',
    ]);
    const critical = encodeURIComponent('Status == "critical"');
    expect(await instances('web', `?filter=${critical}`)).toEqual([]);
    expect(await instances('web', `?namespace=*&filter=${critical}`)).toMatchObject([
      { Namespace: 'dev' },
    ]);
    const first = await api.call('GET', '/v1/service/web?namespace=*&per_page=3');
    const token = first.headers['x-scheduler-nexttoken']!;
    const second = await instances('web', `?namespace=*&per_page=3&next_token=${token}`);
    expect([...first.json, ...second]).toEqual(everywhere);
    const backwards = await instances('web', '?namespace=*&reverse=true');
    expect(backwards).toEqual(everywhere.toReversed());
  });

  test('by a key, always the same ones', async () => {
    const choose = (words: string) => instances('web', `?choose=${encodeURIComponent(words)}`);
    const two = await choose('2|client-7');
    expect(two).toHaveLength(2);
    expect(await choose('2|client-7')).toEqual(two);
    expect(await choose('1|client-7')).toEqual(two.slice(0, 1));
    expect(await choose('9|client-7')).toHaveLength(3);
    const chosen = await Promise.all(Array.from({ length: 40 }, (_, n) => choose(`1|client-${n}`)));
    expect(new Set(chosen.map(([one]) => one!.ID)).size).toBe(3);
    const filter = encodeURIComponent(`Tags contains "t1"`);
    expect(await instances('web', `?choose=2%7Ca&filter=${filter}`)).toMatchObject([
      { Tags: ['t1', 'all'] },
    ]);
    for (const wrong of ['2', '0|a', '2|', 'x|a']) {
      const { status, json } = await api.call('GET', `/v1/service/web?choose=${wrong}`);
      expect([status, json.errors?.[0]?.pointer ?? json.detail]).toEqual([
        400,
        expect.stringContaining('choose'),
      ]);
    }
  });

  test('by job and by allocation', async () => {
    const [allocation] = await allocationsOf();
    const ofJob = await get('/v1/job/web/services');
    expect(ofJob).toHaveLength(6);
    const own = await get(`/v1/allocation/${allocation!.ID}/services`);
    expect(own.map(({ ServiceName }: ServiceRegistration) => ServiceName)).toEqual([
      'own-0',
      'web',
    ]);
    expect(ofJob).toEqual(expect.arrayContaining(own));
    await submit({ ID: 'plain' });
    expect(await get('/v1/job/plain/services')).toEqual([]);
    expect((await api.call('GET', '/v1/job/none/services')).json.code).toBe('job-not-found');
    const none = await api.call('GET', `/v1/allocation/${idOf(9)}/services`);
    expect(none.json.code).toBe('allocation-not-found');
    for (const url of ['/v1/job/web/services', `/v1/allocation/${allocation!.ID}/services`]) {
      const first = await api.call('GET', `${url}?per_page=1`);
      const rest = await get(`${url}?next_token=${first.headers['x-scheduler-nexttoken']}`);
      expect([...first.json, ...rest]).toEqual(await get(url));
    }
  });
});

test('services of a job are listed in its own namespace, for callers who may read its jobs', async () => {
  await api.call('POST', '/v1/namespace/other', { body: {} });
  await submit();
  await submit({ Namespace: 'other' }, {}, '?namespace=other');
  const [here] = await allocationsOf();
  const [there] = await allocationsOf('web', '?namespace=other');
  await serve(here!, ['web']);
  await serve(there!, ['web', 'api']);
  const namesIn = async (query: string) =>
    (await get(`/v1/job/web/services${query}`)).map((one: ServiceRegistration) => [
      one.Namespace,
      one.ServiceName,
    ]);
  expect(await namesIn('')).toEqual([['default', 'web']]);
  expect(await namesIn('?namespace=other')).toEqual([
    ['other', 'api'],
    ['other', 'web'],
  ]);
  expect(await namesIn('?namespace=other&consistent')).toHaveLength(2);
  expect(await namesIn('?namespace=other&stale')).toHaveLength(2);
  const none = await api.call('GET', '/v1/job/web/services?namespace=none');
  expect([none.status, none.json.code]).toEqual([404, 'job-not-found']);
  const denied = await api.call('GET', '/v1/job/web/services?namespace=other', { token: null });
  expect(denied.status).toBe(403);
});

describe('permissions', () => {
  test('show the namespaces whose jobs the caller may read', async () => {
    await api.call('PUT', '/v1/namespace/dev', { body: {} });
    await submit();
    await submit({}, {}, '?namespace=dev');
    for (const query of ['', '?namespace=dev']) {
      const [allocation] = await allocationsOf('web', query);
      await serve(allocation!, ['web']);
    }
    const acl = aclOf(api);
    const token = await acl.holder('namespace "dev" { capabilities = ["read-job"] }');
    const asked = async (method: string, url: string) => api.call(method, url, { token });
    expect((await asked('GET', '/v1/services?namespace=*')).json).toMatchObject([
      { Namespace: 'dev' },
    ]);
    const seen = (await asked('GET', '/v1/service/web?namespace=*')).json;
    expect(seen).toMatchObject([{ Namespace: 'dev' }]);
    expect((await asked('GET', '/v1/services')).status).toBe(403);
    expect((await asked('GET', '/v1/service/web')).status).toBe(403);
    const remove = `/v1/service/web/${seen[0].ID}?namespace=dev`;
    expect((await asked('DELETE', remove)).status).toBe(403);
    const rules = 'namespace "dev" { capabilities = ["delete-service-registration"] }';
    const remover = await acl.holder(rules);
    expect((await api.call('DELETE', remove, { token: remover })).status).toBe(200);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { limits } from '../../src/model/limits.ts';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { serviceRegistrations } from '../../src/state/tables.ts';
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
  ...{ ID: `${allocation}-group-${ServiceName}-http`, ServiceName },
  ...{ Address: '10.0.0.1', Port: 8080, ...fields },
});
const tell = (n: number, reports: object, token: string | null = secretOf(n)) =>
  api.call('PUT', `/v1/node/${idOf(n)}/services`, {
    ...{ body: { Allocations: reports }, token, address: '10.0.0.9' },
  });
/** Each of the names, of the allocation, by its node. */
const serve = async (allocation: Allocation, names: readonly string[], fields: object = {}) => {
  const { ID: AllocID } = allocation;
  const Services = names.map((name) => told(AllocID, name, fields));
  const { status, text } = await tell(nodeOf(allocation), [{ AllocID, Services }]);
  expect(status, text).toBe(200);
};
const instances = (name: string, query = ''): Promise<ServiceRegistration[]> =>
  get(`/v1/service/${name}${query}`);
const stored = () => api.state.read().table(serviceRegistrations).size;

describe('what a node tells', () => {
  test('is registered with what follows from the allocation', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['web'], { Tags: ['a'], Meta: { b: 'c' }, Status: 'passing' });
    expect(await instances('web')).toEqual([
      {
        ...{ ID: `${allocation!.ID}-group-web-http`, ServiceName: 'web', Namespace: 'default' },
        ...{ NodeID: allocation!.NodeID, Datacenter: 'dc1', JobID: 'web', AllocID: allocation!.ID },
        ...{ TaskName: '', Tags: ['a'], Meta: { b: 'c' }, Address: '10.0.0.1', Port: 8080 },
        ...{ TaggedAddresses: null, Weights: null, Status: 'passing' },
        ...{ CreateIndex: expect.any(Number), ModifyIndex: expect.any(Number) },
      },
    ]);
  });

  test('takes the place of all that it told before, and the same again changes nothing', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['web', 'api']);
    const [before] = await instances('api');
    const { index } = api.state.read();
    await serve(allocation!, ['api', 'web']);
    expect(api.state.read().index).toBe(index);
    await serve(allocation!, ['api', 'new'], {});
    expect(await instances('web')).toEqual([]);
    expect(await instances('api')).toEqual([before]);
    await serve(allocation!, ['api'], { Status: 'critical' });
    const [after] = await instances('api');
    expect(after).toMatchObject({ Status: 'critical', CreateIndex: before!.CreateIndex });
    expect(after!.ModifyIndex).toBeGreaterThan(before!.ModifyIndex);
    expect(stored()).toBe(1);
  });

  test('of an allocation of another node is refused whole, and told of', async () => {
    await submit({}, { Count: 2, Constraints: [{ Operand: 'distinct_hosts', RTarget: 'true' }] });
    const [mine, others] = (await allocationsOf()).sort((l, r) => nodeOf(l) - nodeOf(r));
    const reports = [mine!, others!].map(({ ID: AllocID }) => ({
      ...{ AllocID, Services: [told(AllocID, 'web')] },
    }));
    const { status, json } = await tell(1, reports);
    expect([status, json.code]).toEqual([400, 'invalid-body']);
    expect(json.errors).toEqual([
      {
        pointer: '/Allocations/1/AllocID',
        message: `Allocations[1].AllocID is an allocation of another node, "${idOf(2)}"`,
      },
    ]);
    expect(stored()).toBe(0);
    expect(warnings).toMatchObject([{ node: idOf(1), address: '10.0.0.9', code: 'invalid-body' }]);
  });

  test('of an allocation that nobody knows, or that is to end, is left out', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    const gone = '0e4d8b4e-93a1-4b2c-8f64-5b8a3a1f9d27';
    const services = (AllocID: string) => ({ AllocID, Services: [told(AllocID, 'web')] });
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    const { status } = await tell(nodeOf(allocation!), [services(gone), services(allocation!.ID)]);
    expect([status, stored()]).toEqual([200, 0]);
  });

  test('is refused of others, and of a node that has been given up', async () => {
    await submit();
    expect((await tell(1, [], secretOf(2))).status).toBe(403);
    expect((await tell(1, [], null)).status).toBe(403);
    fleet.cut(1);
    await fleet.pass(60_000);
    expect((await tell(1, [])).json).toMatchObject({ status: 404, code: 'node-not-found' });
  });

  const id = 'a1';
  test.each<[string, object[], string, string]>([
    [
      'a name that is none',
      [told(id, 'no name')],
      '/Allocations/0/Services/0/ServiceName',
      'must be at most 63 letters',
    ],
    [
      'a name that is too long',
      [told(id, 'x'.repeat(64))],
      '/Allocations/0/Services/0/ServiceName',
      '63',
    ],
    [
      "another's id",
      [{ ...told(id, 'web'), ID: 'b2-group-web' }],
      '/Allocations/0/Services/0/ID',
      'must begin with the id of its allocation',
    ],
    [
      'an id twice',
      [told(id, 'web'), told(id, 'web')],
      '/Allocations/0/Services/1/ID',
      'is given twice',
    ],
    ['no port', [told(id, 'web', { Port: 65_536 })], '/Allocations/0/Services/0/Port', '65535'],
    [
      'a status that is none',
      [told(id, 'web', { Status: 'fine' })],
      '/Allocations/0/Services/0/Status',
      'unchecked',
    ],
    [
      'a very long tag',
      [told(id, 'web', { Tags: ['x'.repeat(limits.service.textLengthMax + 1)] })],
      '/Allocations/0/Services/0/Tags',
      'characters long',
    ],
    [
      'too many services',
      Array.from({ length: limits.service.perAllocationMax + 1 }, (_, n) => told(id, `w${n}`)),
      '/Allocations/0/Services',
      'an allocation has at most',
    ],
    [
      'a field that is none',
      [told(id, 'web', { Alive: true })],
      '/Allocations/0/Services/0/Alive',
      'not known',
    ],
  ])('is refused with %s', async (_name, Services, pointer, message) => {
    const { status, json } = await tell(1, [{ AllocID: id, Services }]);
    expect(status).toBe(400);
    expect(json.errors).toContainEqual({ pointer, message: expect.stringContaining(message) });
  });
});

describe('registrations are gone', () => {
  const served = async (group: object = {}) => {
    await submit({}, group);
    await fleet.obey();
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['web', 'api']);
    expect(stored()).toBe(2);
    return allocation!;
  };

  test('in the transaction in which the allocation is to end', async () => {
    await served();
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    expect(stored()).toBe(0);
  });

  test.each(['complete', 'failed'] as const)(
    'in that in which its node says that it is %s',
    async (ClientStatus) => {
      const { ID, ...allocation } = await served();
      const states: unknown[] = [];
      api.state.onCommit((changes) => {
        if (changes.some(({ table }) => table === 'service-registrations')) {
          states.push(changes.some((one) => one.table === 'allocations'));
        }
      });
      await api.call('PUT', `/v1/node/${allocation.NodeID}/status`, {
        body: { Allocations: [{ ID, ClientStatus }] },
        token: secretOf(nodeOf(allocation)),
      });
      expect([stored(), states]).toEqual([0, [true]]);
    },
  );

  test('when its node is down', async () => {
    const { NodeID } = await served();
    fleet.cut(nodeOf({ NodeID }));
    await fleet.pass(60_000);
    expect((await get(`/v1/node/${NodeID}`)).Status).toBe('down');
    expect(stored()).toBe(0);
  });

  test('when its node is purged', async () => {
    const { NodeID } = await served();
    await api.call('POST', `/v1/node/${NodeID}/purge`);
    expect(stored()).toBe(0);
  });

  test('not while its node is only disconnected', async () => {
    const { NodeID } = await served({ Disconnect: { LostAfter: 3_600_000_000_000 } });
    fleet.cut(nodeOf({ NodeID }));
    await fleet.pass(60_000);
    expect((await get(`/v1/node/${NodeID}`)).Status).toBe('disconnected');
    expect(stored()).toBe(2);
  });

  test('when somebody takes one out, and is back when its node tells of it', async () => {
    const allocation = await served();
    const [{ ID }] = (await instances('web')) as [ServiceRegistration];
    const answer = await api.call('DELETE', `/v1/service/web/${ID}`);
    expect(answer.json).toEqual({ Index: Number(answer.headers['x-scheduler-index']) });
    expect(stored()).toBe(1);
    const again = await api.call('DELETE', `/v1/service/web/${ID}`);
    expect(again.json).toMatchObject({ status: 404, code: 'service-not-found' });
    await serve(allocation, ['web', 'api']);
    expect(stored()).toBe(2);
  });
});

describe('services are found', () => {
  beforeEach(async () => {
    await api.call('PUT', '/v1/namespace/dev', { body: {} });
    await submit({}, { Count: 3 });
    await submit({ ID: 'shop' }, { Count: 1 }, '?namespace=dev');
    for (const [n, allocation] of (await allocationsOf()).entries()) {
      await serve(allocation, ['web', `own-${n}`], { Tags: [`t${n}`, 'all'] });
    }
    const [shop] = await allocationsOf('shop', '?namespace=dev');
    await serve(shop!, ['web', 'shop'], { Status: 'critical' });
  });

  test('by name, grouped by namespace, with the tags of all instances', async () => {
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

  test('by filters', async () => {
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

  test.each([false, true])('page by page, reversed: %s', async (reverse) => {
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

  test('by instance, in one namespace or in all, by filters and page by page', async () => {
    expect(await instances('web')).toHaveLength(3);
    expect(await instances('none')).toEqual([]);
    const everywhere = await instances('web', '?namespace=*');
    expect(everywhere.map(({ Namespace }) => Namespace)).toEqual([
      ...['default', 'default', 'default', 'dev'],
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

test('those of a job are those of its namespace, for whoever may read jobs there', async () => {
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

describe('a query that blocks', () => {
  const park = async (url: string) => {
    const { headers } = await api.call('GET', url);
    const index = headers['x-scheduler-index'];
    const parked = { index: 0, json: undefined as unknown };
    const mark = url.includes('?') ? '&' : '?';
    void api.call('GET', `${url}${mark}index=${index}&wait=1m`).then((answer) => {
      parked.index = Number(answer.headers['x-scheduler-index']);
      parked.json = answer.json;
    });
    await api.settle();
    expect(parked.index).toBe(0);
    return parked;
  };

  test('wakes by what it shows and by nothing else', async () => {
    await submit({}, { Count: 2 });
    const [one, other] = await allocationsOf();
    await serve(one!, ['web', 'api']);
    const list = await park('/v1/services');
    const web = await park('/v1/service/web');
    const chosen = await park('/v1/service/web?choose=1%7Ca');
    const ofJob = await park('/v1/job/web/services');
    const ofOne = await park(`/v1/allocation/${one!.ID}/services`);
    await submit({ ID: 'another' });
    await fleet.obey();
    expect([list, web, chosen, ofJob, ofOne].map(({ index }) => index)).toEqual([0, 0, 0, 0, 0]);
    await serve(other!, ['api']);
    await api.settle();
    const woken = [list, ofJob].map(({ index }) => index);
    expect([...woken, web.index, chosen.index, ofOne.index]).toEqual([
      ...[api.state.read().index, api.state.read().index, 0, 0, 0],
    ]);
    await serve(one!, ['api']);
    await api.settle();
    expect([web.json, chosen.json]).toEqual([[], []]);
    expect(ofOne.json).toHaveLength(1);
  });

  test('who follows events hears of what comes, changes and goes', async () => {
    await submit();
    const { lines } = await api.follow('/v1/event/stream?topic=Service:web');
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['web', 'api']);
    await serve(allocation!, ['web', 'api'], { Status: 'critical' });
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    const events = lines.flatMap(({ Events = [] }) => Events);
    const of = (Type: string, Status: string, name = 'web') => ({
      ...{ Topic: 'Service', Type, Key: `${allocation!.ID}-group-${name}-http` },
      Payload: { Service: { ServiceName: name, Status } },
    });
    // The other service is of the job with that name.
    expect(events).toHaveLength(6);
    expect(events.filter(({ FilterKeys }) => FilterKeys[0] === 'web')).toMatchObject([
      of('ServiceRegistration', 'unchecked'),
      of('ServiceRegistration', 'critical'),
      of('ServiceDeregistration', 'critical'),
    ]);
  });

  test('a name that nobody has is waited for', async () => {
    await submit();
    const parked = await park('/v1/service/late');
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['late']);
    await api.settle();
    expect(parked.json).toHaveLength(1);
  });
});

describe('who may', () => {
  test('sees the namespaces in which it may read jobs', async () => {
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

describe('how checks fare', () => {
  test('is asked of a node, and a node that is away is told of', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    const { status, json } = await api.call('GET', `/v1/allocation/${allocation!.ID}/checks`);
    expect([status, json.code]).toEqual([503, 'node-unreachable']);
    const none = await api.call('GET', `/v1/client/allocation/${idOf(9)}/checks`);
    expect(none.json.code).toBe('allocation-not-found');
  });

  test('is nothing for what has ended', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    await fleet.obey(() => 'failed');
    expect(await get(`/v1/allocation/${allocation!.ID}/checks`)).toEqual({});
  });
});

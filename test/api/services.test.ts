import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { limits } from '../../src/model/limits.ts';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { serviceRegistrations } from '../../src/state/tables.ts';
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
const stored = () => api.state.read().table(serviceRegistrations).size;

describe("a node's report of services", () => {
  test('is registered with values from the allocation', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['web'], { Tags: ['a'], Meta: { b: 'c' }, Status: 'passing' });
    expect(await instances('web')).toEqual([
      {
        ID: `${allocation!.ID}-group-web-http`,
        ServiceName: 'web',
        Namespace: 'default',
        NodeID: allocation!.NodeID,
        Datacenter: 'dc1',
        JobID: 'web',
        AllocID: allocation!.ID,
        TaskName: '',
        Tags: ['a'],
        Meta: { b: 'c' },
        Address: '10.0.0.1',
        Port: 8080,
        TaggedAddresses: null,
        Weights: null,
        Status: 'passing',
        CreateIndex: expect.any(Number),
        ModifyIndex: expect.any(Number),
      },
    ]);
  });

  test('replaces the previous report, and a repeated one changes nothing', async () => {
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

  test("of another node's allocation is refused completely and logged", async () => {
    await submit({}, { Count: 2, Constraints: [{ Operand: 'distinct_hosts', RTarget: 'true' }] });
    const [mine, others] = (await allocationsOf()).sort((l, r) => nodeOf(l) - nodeOf(r));
    const reports = [mine!, others!].map(({ ID: AllocID }) => ({
      AllocID,
      Services: [told(AllocID, 'web')],
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

  test('of an unknown or stopping allocation is ignored', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    const gone = '0e4d8b4e-93a1-4b2c-8f64-5b8a3a1f9d27';
    const services = (AllocID: string) => ({ AllocID, Services: [told(AllocID, 'web')] });
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    const { status } = await tell(nodeOf(allocation!), [services(gone), services(allocation!.ID)]);
    expect([status, stored()]).toEqual([200, 0]);
  });

  test('is refused from others, and from a lost node', async () => {
    await submit();
    expect((await tell(1, [], secretOf(2))).status).toBe(403);
    expect((await tell(1, [], null)).status).toBe(403);
    fleet.cut(1);
    await fleet.pass(60_000);
    expect((await tell(1, [])).json).toMatchObject({ status: 404, code: 'node-not-registered' });
  });

  const id = 'a1';
  test.each<[string, object[], string, string]>([
    [
      'an invalid name',
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
      'an invalid status',
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
      'an invalid field',
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

describe('registrations are deleted', () => {
  const served = async (group: object = {}) => {
    await submit({}, group);
    await fleet.obey();
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['web', 'api']);
    expect(stored()).toBe(2);
    return allocation!;
  };

  test('in the transaction that ends the allocation', async () => {
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

  test('when their node is down', async () => {
    const { NodeID } = await served();
    fleet.cut(nodeOf({ NodeID }));
    await fleet.pass(60_000);
    expect((await get(`/v1/node/${NodeID}`)).Status).toBe('down');
    expect(stored()).toBe(0);
  });

  test('when their node is purged', async () => {
    const { NodeID } = await served();
    await api.call('POST', `/v1/node/${NodeID}/purge`);
    expect(stored()).toBe(0);
  });

  test('not while their node is disconnected', async () => {
    const { NodeID } = await served({ Disconnect: { LostAfter: 3_600_000_000_000 } });
    fleet.cut(nodeOf({ NodeID }));
    await fleet.pass(60_000);
    expect((await get(`/v1/node/${NodeID}`)).Status).toBe('disconnected');
    expect(stored()).toBe(2);
  });

  test('when a caller deletes one, until the node reports it again', async () => {
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

describe('a blocking query', () => {
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

  test('wakes by changes of its result only', async () => {
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
      api.state.read().index,
      api.state.read().index,
      0,
      0,
      0,
    ]);
    await serve(one!, ['api']);
    await api.settle();
    expect([web.json, chosen.json]).toEqual([[], []]);
    expect(ofOne.json).toHaveLength(1);
  });

  test('followers of events learn of new, changed and deleted services', async () => {
    await submit();
    const { lines } = await api.follow('/v1/event/stream?topic=Service:web');
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['web', 'api']);
    await serve(allocation!, ['web', 'api'], { Status: 'critical' });
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    const events = lines.flatMap(({ Events = [] }) => Events);
    const of = (Type: string, Status: string, name = 'web') => ({
      Topic: 'Service',
      Type,
      Key: `${allocation!.ID}-group-${name}-http`,
      Payload: { Service: { ServiceName: name, Status } },
    });
    // The other service belongs to the job with that name.
    expect(events).toHaveLength(6);
    expect(events.filter(({ FilterKeys }) => FilterKeys[0] === 'web')).toMatchObject([
      of('ServiceRegistration', 'unchecked'),
      of('ServiceRegistration', 'critical'),
      of('ServiceDeregistration', 'critical'),
    ]);
  });

  test('an unknown name is waited for', async () => {
    await submit();
    const parked = await park('/v1/service/late');
    const [allocation] = await allocationsOf();
    await serve(allocation!, ['late']);
    await api.settle();
    expect(parked.json).toHaveLength(1);
  });
});

describe('results of checks', () => {
  test('are read from the node, and a disconnected node is reported', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    const { status, json } = await api.call('GET', `/v1/allocation/${allocation!.ID}/checks`);
    expect([status, json.code]).toEqual([503, 'node-unreachable']);
    const none = await api.call('GET', `/v1/client/allocation/${idOf(9)}/checks`);
    expect(none.json.code).toBe('allocation-not-found');
  });

  test('are empty for a terminal allocation', async () => {
    await submit();
    const [allocation] = await allocationsOf();
    await fleet.obey(() => 'failed');
    expect(await get(`/v1/allocation/${allocation!.ID}/checks`)).toEqual({});
  });
});

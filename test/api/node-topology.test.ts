import { beforeEach, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(2, {
    Attributes: { 'kernel.name': 'linux', 'roster.version': '0.2.0' },
    Meta: { rack: 'r1', row: 'a', other: 'x' },
    NodeClass: 'large',
  });
});

const topology = async (query = '', token?: string) =>
  api.call('GET', `/v1/nodes/topology${query}`, token === undefined ? {} : { token });

test('a node is shown with what it offers, what is held, and its allocations by status', async () => {
  const spread = { Count: 2, Constraints: [{ Operand: 'distinct_hosts', RTarget: 'true' }] };
  const registered = await api.call('POST', '/v1/jobs', { body: jobBody({}, spread) });
  expect([registered.status, registered.json.detail]).toEqual([200, undefined]);
  await api.world.advance(1000);
  const { json } = await topology();
  expect(json.map(({ Allocations }: { Allocations: object }) => Allocations)).toContainEqual({
    pending: 1,
  });
  await fleet.pass(5000);
  const { json: later } = await topology();
  const path = `/v1/node/${idOf(1)}/allocations`;
  const [whole] = (await api.call('GET', path)).json;
  expect(whole.Job).toMatchObject({ ID: 'web' });
  const [slim] = (await api.call('GET', `${path}?job=false`)).json;
  expect(slim).toEqual({ ...whole, Job: null });
  expect(later[0]).toEqual({
    ID: idOf(1),
    Name: 'n1',
    Datacenter: 'dc1',
    NodePool: 'default',
    NodeClass: 'large',
    Meta: { rack: 'r1' },
    Status: 'ready',
    SchedulingEligibility: 'eligible',
    Drain: false,
    Version: '0.2.0',
    Capacity: { CPU: 4000, MemoryMB: 8192, DiskMB: 100_000 },
    Allocated: { CPU: 100, MemoryMB: 64, DiskMB: 300 },
    Allocations: { running: 1 },
    CreateIndex: expect.any(Number),
    ModifyIndex: expect.any(Number),
  });
  await api.call('DELETE', '/v1/job/web');
  await fleet.pass(5000);
  const { json: after } = await topology();
  expect(after[0]).toMatchObject({
    Allocated: { CPU: 0, MemoryMB: 0, DiskMB: 0 },
    Allocations: {},
  });
});

test('other keys of the meta are shown as asked, 8 at most', async () => {
  const { json } = await topology('?meta=row&meta=absent');
  expect(json[0].Meta).toEqual({ row: 'a' });
  const { status } = await topology(
    `?${Array.from({ length: 9 }, (_, at) => `meta=k${at}`).join('&')}`,
  );
  expect(status).toBe(400);
});

test('pages and filters are those of every list', async () => {
  const first = await topology('?per_page=1');
  const next = first.headers['x-scheduler-nexttoken'];
  expect([first.json.length, first.json[0].Name]).toEqual([1, 'n1']);
  const second = await topology(`?per_page=1&next_token=${next}`);
  expect(second.json.map(({ Name }: { Name: string }) => Name)).toEqual(['n2']);
  const filter = encodeURIComponent('Meta.rack == "r1" and Name == "n2"');
  expect((await topology(`?filter=${filter}`)).json).toHaveLength(1);
});

test('it is sorted by what allocations hold, on one page and on many', async () => {
  const Cpu = { CpuShares: 1000, TotalCpuCores: 1 };
  const NodeResources = { Cpu, Memory: { MemoryMB: 9000 }, Disk: { DiskMB: 100_000 } };
  await fleet.join(1, { NodeResources });
  // Two allocations on the second node, and one on the third, which has a quarter of the processor.
  for (const [at, name] of ['n2', 'n2', 'n3'].entries()) {
    const Constraints = [{ LTarget: '${node.unique.name}', RTarget: name, Operand: '=' }];
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: `job-${at}`, Constraints }) });
  }
  await fleet.pass(3000);
  const sorted = async (query: string) => {
    const names: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const { json, headers } = await topology(`?${query}&next_token=${next}`);
      names.push(...json.map(({ Name }: { Name: string }) => Name));
      next = headers['x-scheduler-nexttoken'];
    }
    return names;
  };
  for (const perPage of [1, 100]) {
    const page = `per_page=${perPage}`;
    expect(await sorted(`sort=CPU&${page}`)).toEqual(['n1', 'n2', 'n3']);
    expect(await sorted(`sort=CPU&reverse&${page}`)).toEqual(['n3', 'n2', 'n1']);
    expect(await sorted(`sort=MemoryMB&${page}`)).toEqual(['n1', 'n3', 'n2']);
    expect(await sorted(`sort=Allocations&reverse&${page}`)).toEqual(['n2', 'n3', 'n1']);
    expect(await sorted(`sort=Status&reverse&${page}`)).toEqual(['n3', 'n2', 'n1']);
  }
  expect((await topology('?sort=Allocated&per_page=1')).status).toBe(400);
});

test('a caller sees the nodes that it may read', async () => {
  const token = await aclOf(api).holder('node "n2" { policy = "read" }');
  expect((await topology('', token)).json.map(({ Name }: { Name: string }) => Name)).toEqual([
    'n2',
  ]);
  expect((await topology('', await aclOf(api).holder(''))).status).toBe(403);
});

test('a blocking read wakes when an allocation on a node changes, and not before', async () => {
  const { headers } = await topology();
  const index = headers['x-scheduler-index'];
  let isOver = false;
  const waiting = topology(`?index=${index}&wait=1m`).then((answer) => {
    isOver = true;
    return answer;
  });
  await api.call('PUT', '/v1/namespace', { body: { Name: 'elsewhere' } });
  await api.settle();
  expect(isOver).toBe(false);
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.world.advance(1000);
  const { json } = await waiting;
  expect(json).toHaveLength(2);
});

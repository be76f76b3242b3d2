import { beforeEach, expect, test } from 'vitest';
import { complete } from '../../src/model/complete.ts';
import { limits } from '../../src/model/limits.ts';
import { NodePoolSchema } from '../../src/model/node-pool/node-pool.ts';
import { nodePools } from '../../src/state/tables.ts';
import { introduction, jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

// Impossible reports of nodes are refused, logged with the node's name, and have no effect.

interface Warning {
  readonly node: string;
  readonly address: string;
  readonly code: string;
}

let api: TestApi;
let warnings: Warning[];
beforeEach(async () => {
  warnings = [];
  const warn = (fields: object) => void warnings.push(fields as Warning);
  api = await startApi({ log: { debug() {}, info() {}, warn, error() {} } });
});

const { Node, SecretID } = nodeBody();
const register = (body: object, token: string | null = introduction) =>
  api.call('PUT', '/v1/node/register', { body, token, address: '10.0.0.9' });
const resources = (changes: object) =>
  nodeBody({ NodeResources: { ...Node.NodeResources, ...changes } });
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, '1']));

test.each([
  [
    'negative memory',
    resources({ Memory: { MemoryMB: -1 } }),
    '/Node/NodeResources/Memory/MemoryMB',
  ],
  [
    'absurd memory',
    resources({ Memory: { MemoryMB: 1e12 } }),
    '/Node/NodeResources/Memory/MemoryMB',
  ],
  ['absurd power', resources({ Cpu: { CpuShares: 1e15 } }), '/Node/NodeResources/Cpu/CpuShares'],
  ['absurd disk', resources({ Disk: { DiskMB: 1e15 } }), '/Node/NodeResources/Disk/DiskMB'],
  [
    'a core twice',
    resources({ Cpu: { CpuShares: 1, TotalCpuCores: 2, ReservableCpuCores: [0, 0] } }),
    '/Node/NodeResources/Cpu/ReservableCpuCores',
  ],
  [
    'more cores than it has',
    resources({ Cpu: { CpuShares: 1, TotalCpuCores: 1, ReservableCpuCores: [0, 1] } }),
    '/Node/NodeResources/Cpu/ReservableCpuCores',
  ],
  [
    'ports the wrong way round',
    resources({ MinDynamicPort: 30_000, MaxDynamicPort: 20_000 }),
    '/Node/NodeResources/MinDynamicPort',
  ],
  [
    'a device twice',
    resources({ Devices: [{ Type: 'gpu' }, { Type: 'gpu' }] }),
    '/Node/NodeResources/Devices/1',
  ],
  ['a device of no type', resources({ Devices: [{}] }), '/Node/NodeResources/Devices/0/Type'],
  [
    'a device whose vendor has a slash',
    resources({ Devices: [{ Vendor: 'a/b', Type: 'gpu' }] }),
    '/Node/NodeResources/Devices/0/Vendor',
  ],
  [
    'a piece of a device twice',
    resources({ Devices: [{ Type: 'gpu', Instances: [{ ID: 'a' }, { ID: 'a' }] }] }),
    '/Node/NodeResources/Devices/0/Instances/1/ID',
  ],
  [
    'a piece without a name',
    resources({ Devices: [{ Type: 'gpu', Instances: [{}] }] }),
    '/Node/NodeResources/Devices/0/Instances/0/ID',
  ],
  [
    'a piece whose name is two',
    resources({ Devices: [{ Type: 'gpu', Instances: [{ ID: 'a,b' }] }] }),
    '/Node/NodeResources/Devices/0/Instances/0/ID',
  ],
  [
    'more pieces than anybody has',
    resources({
      Devices: [
        { Type: 'gpu', Instances: Array.from({ length: 1025 }, (_, n) => ({ ID: `${n}` })) },
      ],
    }),
    '/Node/NodeResources/Devices',
  ],
  [
    'an attribute that is two things',
    resources({ Devices: [{ Type: 'gpu', Attributes: { size: { Int: 1, String: '1' } } }] }),
    '/Node/NodeResources/Devices/0/Attributes/size',
  ],
  [
    'an attribute that is nothing',
    resources({ Devices: [{ Type: 'gpu', Attributes: { size: { Unit: 'MiB' } } }] }),
    '/Node/NodeResources/Devices/0/Attributes/size',
  ],
  [
    'text with a unit',
    resources({ Devices: [{ Type: 'gpu', Attributes: { size: { String: '1', Unit: 'MiB' } } }] }),
    '/Node/NodeResources/Devices/0/Attributes/size',
  ],
  ['no address', resources({ Networks: [{ IP: 'here' }] }), '/Node/NodeResources/Networks/0/IP'],
  [
    'invalid reserved ports',
    nodeBody({ ReservedResources: { Networks: { ReservedHostPorts: '80-22' } } }),
    '/Node/ReservedResources/Networks/ReservedHostPorts',
  ],
  [
    'more reserved than there is',
    nodeBody({ ReservedResources: { Disk: { DiskMB: 1e6 } } }),
    '/Node/ReservedResources/Disk/DiskMB',
  ],
  ['a pool that is every node', nodeBody({ NodePool: 'all' }), '/Node/NodePool'],
  ['a pool with an invalid name', nodeBody({ NodePool: 'a b' }), '/Node/NodePool'],
  ['too many attributes', nodeBody({ Attributes: many(2001) }), '/Node/Attributes'],
  ['a status of its own choice', nodeBody({ Status: 'ready', Drain: false }), '/Node/Status'],
  ['an unknown field', nodeBody({ Colour: 'red' }), '/Node/Colour'],
])('%s', async (_title, body, pointer) => {
  const before = api.state.read().index;
  const { status, json } = await register(body);
  expect([status, json.code]).toEqual([400, 'invalid-body']);
  expect(json.errors.map((fault: { pointer: string }) => fault.pointer)).toContain(pointer);
  expect(api.state.read().index).toBe(before);
  expect(warnings).toEqual([{ node: Node.ID, address: '10.0.0.9', code: 'invalid-body' }]);
});

test('all faults are reported at once', async () => {
  const { json } = await register({
    SecretID: 'x',
    Node: { ...Node, ID: 'y', Name: '', NodePool: 'all', NodeResources: { Disk: { DiskMB: -5 } } },
  });
  expect(json.errors.map((fault: { pointer: string }) => fault.pointer).sort()).toEqual([
    '/Node/ID',
    '/Node/Name',
    '/Node/NodePool',
    '/Node/NodeResources/Disk/DiskMB',
    '/SecretID',
  ]);
});

test('the id of another node', async () => {
  await register(nodeBody());
  const thief = {
    ...nodeBody({ Name: 'thief' }),
    SecretID: '55555555-5555-4555-8555-555555555555',
  };
  const { status, json } = await register(thief);
  expect([status, json.code]).toEqual([403, 'node-secret-mismatch']);
  expect(warnings).toEqual([{ node: Node.ID, address: '10.0.0.9', code: 'node-secret-mismatch' }]);
  expect((await api.call('GET', `/v1/node/${Node.ID}`)).json.Name).toBe('node-1');
});

test('the secret of another node', async () => {
  await register(nodeBody());
  const { status, json } = await register({ SecretID, Node: { ...Node, ID: idOf(7) } });
  expect([status, json.code]).toEqual([409, 'id-taken']);
});

test('pools above the limit', async () => {
  const { countMax } = limits.nodePool;
  await api.state.write((transaction) => {
    for (let n = transaction.table(nodePools).size; n < countMax; n++) {
      transaction.table(nodePools).put(complete(NodePoolSchema, { Name: `p${n}` }));
    }
  });
  const { status, json } = await register(nodeBody({ NodePool: 'one-more' }));
  expect([status, json.code]).toEqual([409, 'limit-reached']);
  expect((await register(nodeBody({ NodePool: 'p7' }))).status).toBe(200);
});

test('reports about foreign allocations, in unknown states, or endless', async () => {
  const fleet = new Fleet(api);
  await fleet.join(2);
  await api.call('POST', '/v1/jobs', { body: jobBody({}, { Count: 2 }) });
  await api.settle();
  const all = (await api.call('GET', '/v1/allocations')).json as { ID: string; NodeID: string }[];
  const own = all.filter(({ NodeID }) => NodeID === idOf(1));
  const other = all.find(({ NodeID }) => NodeID !== idOf(1)) ?? { ID: 'none' };
  const report = (Allocations: object[]) =>
    api.call('PUT', `/v1/node/${idOf(1)}/status`, {
      token: `${idOf(1).slice(0, -1)}f`,
      body: { Allocations },
      address: '10.0.0.9',
    });
  const good = own.map(({ ID }) => ({ ID, ClientStatus: 'running' }));
  const { ID } = own[0]!;
  const Events = Array.from({ length: 11 }, () => ({ Type: 'Driver' }));
  const lies: readonly (readonly [object, string])[] = [
    [{ ID, ClientStatus: 'lost' }, '/Allocations/1/ClientStatus'],
    [{ ID, ClientStatus: 'running', NodeID: idOf(2) }, '/Allocations/1/NodeID'],
    [{ ID, TaskStates: { server: { Events } } }, '/Allocations/1/TaskStates/server/Events'],
    [
      { ID, TaskStates: { server: { StartedAt: 'yesterday' } } },
      '/Allocations/1/TaskStates/server/StartedAt',
    ],
    [{ ID, TaskStates: { miner: { State: 'running' } } }, '/Allocations/1/TaskStates/miner'],
    ...(other.ID === 'none'
      ? []
      : [[{ ID: other.ID, ClientStatus: 'failed' }, '/Allocations/1/ID'] as const]),
  ];
  const before = api.state.read().index;
  for (const [lie, pointer] of lies) {
    warnings.length = 0;
    const { status, json } = await report([good[0]!, lie]);
    expect([status, json.errors?.[0].pointer]).toEqual([400, pointer]);
    expect(warnings).toEqual([{ node: idOf(1), address: '10.0.0.9', code: 'invalid-body' }]);
  }
  const flood = Array.from({ length: limits.node.statusBatchSizeMax + 1 }, () => good[0]!);
  expect((await report(flood)).status).toBe(400);
  expect(api.state.read().index).toBe(before);
});

/** Reports about the only allocation of a job. Returns its status afterwards. */
async function placedAllocation() {
  const fleet = new Fleet(api);
  await fleet.join(1);
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  const read = async () => (await api.call('GET', '/v1/job/web/allocations')).json[0];
  const { ID } = await read();
  return async (ClientStatus: string, TaskStates: object) => {
    const { status } = await api.call('PUT', `/v1/node/${idOf(1)}/status`, {
      token: `${idOf(1).slice(0, -1)}f`,
      body: { Allocations: [{ ID, ClientStatus, TaskStates }] },
    });
    expect(status).toBe(200);
    return (await read()).ClientStatus;
  };
}

const serverWith = (State: string, events: number) => {
  const Events = Array.from({ length: events }, (_, second) => ({
    Type: 'Driver',
    Time: second * 1e9,
  }));
  return { server: { State, Events } };
};

test('a report that comes after a newer one changes nothing', async () => {
  const report = await placedAllocation();
  expect(await report('pending', serverWith('pending', 1))).toBe('pending');
  expect(await report('running', serverWith('running', 2))).toBe('running');
  expect(await report('pending', serverWith('pending', 1))).toBe('running');
  expect(await report('pending', serverWith('pending', 3))).toBe('pending');
});

test.each(['complete', 'failed'])(
  'the end of an allocation is news without any event, as from a node that lost its data: %s',
  async (status) => {
    const report = await placedAllocation();
    expect(await report('running', serverWith('running', 2))).toBe('running');
    expect(await report(status, {})).toBe(status);
    expect(await report('running', serverWith('running', 2))).toBe(status);
  },
);

test('a task that ended in the far future is not retried later for that reason', async () => {
  const fleet = new Fleet(api);
  await fleet.join(1);
  const ReschedulePolicy = { Unlimited: true, Delay: 5e9, DelayFunction: 'constant' };
  const body = jobBody({}, { ReschedulePolicy, Update: { MaxParallel: 0 } });
  await api.call('POST', '/v1/jobs', { body });
  await api.settle();
  const read = async () => (await api.call('GET', '/v1/job/web/allocations')).json;
  const [{ ID }] = await read();
  const server = { State: 'dead', Failed: true, FinishedAt: '2999-01-01T00:00:00Z' };
  const { status } = await api.call('PUT', `/v1/node/${idOf(1)}/status`, {
    token: `${idOf(1).slice(0, -1)}f`,
    body: { Allocations: [{ ID, ClientStatus: 'failed', TaskStates: { server } }] },
  });
  expect(status).toBe(200);
  await fleet.pass(10_000, ({ ClientStatus }) =>
    ClientStatus === 'failed' ? undefined : 'running',
  );
  expect(await read()).toHaveLength(2);
});

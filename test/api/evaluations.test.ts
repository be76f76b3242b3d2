import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { limits } from '../../src/model/limits.ts';
import { registerJob } from '../../src/server/jobs/register.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { evaluations, jobs } from '../../src/state/tables.ts';
import { jobBody, nodeBody } from '../support/api.ts';
import { type StartOptions, startOn } from '../support/start-on.ts';

const { ID: nodeId } = nodeBody().Node;
const hourMs = 3_600_000;

async function start(limits: StartOptions['limits'] = {}) {
  const world = new SimulatedWorld(1);
  const disk = new MemoryDisk();
  return { world, disk, ...(await startOn(world, disk, { limits })) };
}

test('room that appeared just before a crash is used', async () => {
  const first = await start();
  const { world, disk } = first;
  await first.call('POST', '/v1/jobs', jobBody());
  await world.advance(0);
  // Durable, but the released evaluation has not run yet.
  await first.call('PUT', '/v1/node/register', nodeBody());
  first.server.stop();
  disk.crash('kept');
  const second = await startOn(world, disk);
  await second.call('PUT', '/v1/node/register', nodeBody());
  for (let beat = 0; beat < 20; beat++) {
    await world.advance(9_000);
    await second.call('PUT', `/v1/node/${nodeId}/heartbeat`);
  }
  expect((await second.call('GET', '/v1/job/web/allocations')).json).toHaveLength(1);
});

test('an allocation that is being stopped is lost with its node', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  await call('POST', '/v1/jobs', jobBody());
  await world.advance(0);
  const [{ ID }] = (await call('GET', '/v1/allocations')).json;
  const Allocations = [{ ID, ClientStatus: 'running' }];
  await call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
  await call('DELETE', '/v1/job/web');
  await world.advance(hourMs);
  expect((await call('GET', '/v1/nodes')).json[0].Status).toBe('down');
  expect((await call('GET', '/v1/allocations')).json[0].ClientStatus).toBe('lost');
  expect((await call('GET', '/v1/job/web/summary')).json.Summary.web.Running).toBe(0);
});

test('an allocation of a purged job that is being stopped is lost with its node', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  await call('POST', '/v1/jobs', jobBody());
  await world.advance(0);
  await call('DELETE', '/v1/job/web?purge=true');
  await world.advance(hourMs);
  expect((await call('GET', '/v1/allocations')).json[0].ClientStatus).toBe('lost');
});

test('an allocation that is twice in a report is counted once', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  await call('POST', '/v1/jobs', jobBody({}, { Count: 2 }));
  await world.advance(0);
  const [{ ID }] = (await call('GET', '/v1/allocations')).json;
  const Allocations = [
    { ID, ClientStatus: 'running' },
    { ID, ClientStatus: 'complete' },
  ];
  await call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
  const { web } = (await call('GET', '/v1/job/web/summary')).json.Summary;
  expect(web).toMatchObject({ Starting: 1, Running: 0, Complete: 1 });
});

test('a late report does not revive a terminal allocation', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  await call('POST', '/v1/jobs', jobBody());
  await world.advance(0);
  const [{ ID }] = (await call('GET', '/v1/allocations')).json;
  for (const ClientStatus of ['complete', 'running']) {
    const Allocations = [{ ID, ClientStatus }];
    await call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
    await world.advance(0);
  }
  const list = (await call('GET', '/v1/job/web/allocations')).json;
  const live = list.filter(
    (one: { DesiredStatus: string; ClientStatus: string }) =>
      one.DesiredStatus === 'run' && one.ClientStatus !== 'complete',
  );
  expect(live).toHaveLength(1);
});

test.each([
  ['batch', 'complete', []],
  ['sysbatch', 'complete', []],
  ['batch', 'failed', ['alloc-failure']],
  ['sysbatch', 'failed', ['alloc-failure']],
  ['service', 'complete', ['alloc-failure']],
  ['system', 'complete', ['alloc-failure']],
])('an allocation of a %s job that ends as %s makes the evaluations %j', async (...row) => {
  const [Type, ClientStatus, triggers] = row;
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  await call('POST', '/v1/jobs', jobBody({ Type }, { ReschedulePolicy: null }));
  await world.advance(0);
  const [{ ID }] = (await call('GET', '/v1/allocations')).json;
  await call('PUT', `/v1/node/${nodeId}/status`, { Allocations: [{ ID, ClientStatus }] });
  const all: { TriggeredBy: string }[] = (await call('GET', '/v1/job/web/evaluations')).json;
  const made = all.map(({ TriggeredBy }) => TriggeredBy);
  expect(made.filter((trigger) => trigger !== 'job-register')).toEqual(triggers);
});

test('an allocation of an earlier version of a batch job is looked at when it completes', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  await call('POST', '/v1/jobs', jobBody({ Type: 'batch' }));
  await world.advance(0);
  const [{ ID }] = (await call('GET', '/v1/allocations')).json;
  const tooLarge = { Resources: { CPU: 1_000_000, MemoryMB: 10 } };
  await call('POST', '/v1/jobs', jobBody({ Type: 'batch' }, {}, tooLarge));
  await world.advance(0);
  const Allocations = [{ ID, ClientStatus: 'complete' }];
  await call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
  const all: { TriggeredBy: string }[] = (await call('GET', '/v1/job/web/evaluations')).json;
  expect(all.map(({ TriggeredBy }) => TriggeredBy)).toContain('alloc-failure');
});

test('a group named "__proto__" can wait for room', async () => {
  const { world, call } = await start();
  await call('POST', '/v1/jobs', jobBody({}, { Name: '__proto__' }));
  await world.advance(0);
  await call('PUT', '/v1/node/register', nodeBody());
  await world.advance(0);
  expect((await call('GET', '/v1/job/web/allocations')).json).toHaveLength(1);
});

test('a missed heartbeat is recorded as soon as writes are possible again', async () => {
  const { world, disk, call } = await start({ waitingWrites: 2 });
  await call('PUT', '/v1/node/register', nodeBody());
  disk.faults.appendDelayMs = 60_000;
  for (const ID of ['one', 'two']) void call('POST', '/v1/jobs', jobBody({ ID }));
  await world.advance(45_000);
  disk.faults.appendDelayMs = undefined;
  await world.advance(hourMs);
  expect((await call('GET', '/v1/nodes')).json[0].Status).toBe('down');
});

test('a full write queue leaves no evaluation pending forever', async () => {
  const { world, disk, state, call } = await start({ waitingWrites: 4 });
  for (const Meta of [{ v: '0' }, { v: '1' }, { v: '2' }]) {
    await call('POST', '/v1/jobs', jobBody({ Meta }));
  }
  disk.faults.appendDelayMs = 100;
  const stop = state.onCommit(() => {
    for (let count = 0; count < 4; count++) {
      const again = state.write((transaction) => {
        const table = transaction.table(jobs);
        table.put({ ...table.get('default', 'default', 'web')! });
      });
      again.catch(() => {});
    }
  });
  await world.advance(400);
  stop();
  disk.faults.appendDelayMs = undefined;
  await world.advance(hourMs);
  const list = (await call('GET', '/v1/evaluations')).json;
  expect(list.filter((one: { Status: string }) => one.Status === 'pending')).toEqual([]);
});

test('an allocation that is being stopped keeps its resources: updates do not overfill a node', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  const Resources = { CPU: 2000, MemoryMB: 64 };
  for (const v of ['0', '1', '2', '3']) {
    await call('POST', '/v1/jobs', jobBody({}, {}, { Resources, Env: { v } }));
    await world.advance(0);
  }
  // The node has 4000 MHz and has reported no end.
  const list = (await call('GET', '/v1/allocations')).json;
  const held = list.filter(
    (one: { ClientStatus: string }) => one.ClientStatus === 'pending',
  ).length;
  expect(held * Resources.CPU).toBeLessThanOrEqual(4000);
});

test('a static port is passed on by the replaced allocation only', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  const Networks = [{ ReservedPorts: [{ Label: 'http', Value: 8080 }] }];
  for (const v of ['0', '1', '2']) {
    await call('POST', '/v1/jobs', jobBody({}, { Networks }, { Env: { v } }));
    await world.advance(0);
  }
  const list = (await call('GET', '/v1/allocations')).json;
  const [first] = list.filter((one: { JobVersion: number }) => one.JobVersion === 0);
  expect(list.map((one: { JobVersion: number }) => one.JobVersion).sort()).toEqual([0, 1]);
  const Allocations = [{ ID: first.ID, ClientStatus: 'complete' }];
  await call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
  await world.advance(0);
  const [last] = (await call('GET', '/v1/job/web/allocations')).json.filter(
    (one: { DesiredStatus: string }) => one.DesiredStatus === 'run',
  );
  expect(last.JobVersion).toBe(2);
});

test.each(['lost', 'unknown'])('a node may not report an allocation as %s', async (status) => {
  const { call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  const Allocations = [{ ID: 'any', ClientStatus: status }];
  const refused = await call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
  expect(refused).toMatchObject({
    status: 400,
    json: { code: 'invalid-body', errors: [{ pointer: '/Allocations/0/ClientStatus' }] },
  });
});

test('an end from an earlier registration does not hide one from the current registration', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  await call('POST', '/v1/jobs', jobBody());
  await world.advance(0);
  await call('DELETE', '/v1/job/web?purge=true');
  await call('POST', '/v1/jobs', jobBody());
  await world.advance(0);
  const list = (await call('GET', '/v1/allocations')).json;
  expect(list).toHaveLength(2);
  const Allocations = list.map(({ ID }: { ID: string }) => ({ ID, ClientStatus: 'complete' }));
  await call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
  await world.advance(0);
  expect((await call('GET', '/v1/allocations')).json).toHaveLength(3);
});

test('room for one evaluation wakes one of many, and the others are not written again', async () => {
  const { world, state, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  const Resources = { CPU: 4000, MemoryMB: 64 };
  const ids = Array.from({ length: 50 }, (_, n) => `job-${n}`);
  for (const ID of ids) await call('POST', '/v1/jobs', jobBody({ ID }, {}, { Resources }));
  await world.advance(0);
  for (const expected of ids.slice(1, 4)) {
    const running = (await call('GET', '/v1/allocations')).json.filter(
      (one: { ClientStatus: string }) => one.ClientStatus === 'pending',
    );
    await call('DELETE', `/v1/job/${running[0].JobID}`);
    await world.advance(0);
    let written = 0;
    const stop = state.onCommit((changes) => {
      written += changes.filter(({ table }) => table === evaluations.name).length;
    });
    const Allocations = [{ ID: running[0].ID, ClientStatus: 'complete' }];
    await call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
    await world.advance(0);
    stop();
    expect(written).toBe(1);
    expect((await call('GET', `/v1/job/${expected}/allocations`)).json).toHaveLength(1);
  }
});

test('a smaller job gets room that is too small for the jobs ahead of it', async () => {
  const { world, call } = await start();
  await call('PUT', '/v1/node/register', nodeBody());
  const asking = (CPU: number) => ({ Resources: { CPU, MemoryMB: 64 } });
  await call('POST', '/v1/jobs', jobBody({ ID: 'most' }, {}, asking(3500)));
  await call('POST', '/v1/jobs', jobBody({ ID: 'rest' }, {}, asking(500)));
  await world.advance(0);
  for (let n = 0; n < 2 * limits.evaluation.releaseBatchMax; n++) {
    await call('POST', '/v1/jobs', jobBody({ ID: `large-${n}`, Priority: 80 }, {}, asking(1000)));
  }
  await call('POST', '/v1/jobs', jobBody({ ID: 'small', Priority: 20 }, {}, asking(100)));
  await world.advance(0);
  const [{ ID }] = (await call('GET', '/v1/job/rest/allocations')).json;
  await call('DELETE', '/v1/job/rest');
  await call('PUT', `/v1/node/${nodeId}/status`, {
    Allocations: [{ ID, ClientStatus: 'complete' }],
  });
  await world.advance(0);
  expect((await call('GET', '/v1/job/small/allocations')).json).toHaveLength(1);
});

test('a job is refused while too many evaluations are open', async () => {
  const { server } = await start();
  const { queueMax } = limits.evaluation;
  const register = (open: number) =>
    registerJob({ ...server.context, openEvaluations: () => open }, {
      job: jobBody().Job,
      namespace: 'default',
      jobId: undefined,
      submission: undefined,
      enforceIndex: undefined,
      evaluationPriority: 0,
      preserveCounts: false,
      preserveResources: false,
      accessor: '',
      unknownFields: [],
    } as unknown as Parameters<typeof registerJob>[1]);
  await expect(register(queueMax)).rejects.toMatchObject({ code: 'queue-full', status: 503 });
  await expect(register(queueMax - 1)).resolves.toMatchObject({ Warnings: '' });
});

test('a job whose version cannot be incremented is refused', async () => {
  const { call } = await start();
  const refused = await call('POST', '/v1/jobs', jobBody({ Version: Number.MAX_SAFE_INTEGER }));
  expect(refused).toMatchObject({
    status: 400,
    json: { code: 'invalid-job', errors: [{ pointer: '/Job/Version' }] },
  });
});

test.each(['Attributes', 'Meta'])(
  'a node with an endless value in %s is refused',
  async (field) => {
    const { call } = await start();
    const long = { a: 'x'.repeat(limits.node.attributeLengthMax + 1) };
    const refused = await call('PUT', '/v1/node/register', nodeBody({ [field]: long }));
    expect(refused).toMatchObject({
      status: 400,
      json: { code: 'invalid-body', errors: [{ pointer: `/Node/${field}/a` }] },
    });
  },
);

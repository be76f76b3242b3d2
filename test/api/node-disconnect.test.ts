import { beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, type FleetApi, idOf } from '../support/fleet.ts';
import { startOn } from '../support/start-on.ts';

// A node without heartbeats, and a job whose allocations may wait for it.

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(1);
});

const waits = { LostAfter: 300e9, Replace: false };
const submit = (group: object = { Disconnect: waits }) =>
  api.call('POST', '/v1/jobs', { body: jobBody({}, group) });
const node = async () => (await api.call('GET', `/v1/node/${idOf(1)}`)).json;
const allocationsOf = async (): Promise<Allocation[]> =>
  (await api.call('GET', '/v1/job/web/allocations')).json;

async function runAndCut(group?: object): Promise<void> {
  await submit(group);
  await api.settle();
  await fleet.pass(2_000);
  fleet.cut(1);
  await fleet.pass(60_000);
}

test('the node is down if nothing waits for it', async () => {
  await runAndCut({});
  expect((await node()).Status).toBe('down');
});

test('the node is disconnected while an allocation waits for it, and its allocations are unknown', async () => {
  await runAndCut();
  const { Status, Events } = await node();
  expect([Status, Events.at(-1).Message]).toEqual(['disconnected', 'Node heartbeat missed']);
  expect((await allocationsOf()).map(({ ClientStatus }) => ClientStatus)).toEqual(['unknown']);
});

test('at the end of the time the node is down and its allocations are lost', async () => {
  await runAndCut();
  await fleet.pass(300_000);
  const { Status, Events } = await node();
  expect([Status, Events.at(-1).Message]).toEqual(['down', 'Node did not come back in time']);
  expect((await allocationsOf())[0]!.ClientStatus).toBe('lost');
});

test('the node is eligible again only after it has reported all its allocations', async () => {
  await runAndCut();
  await fleet.restore(1);
  await api.settle();
  expect((await node()).Status).toBe('initializing');
  // It sends heartbeats without reports, so it is asked again.
  await fleet.beat();
  expect((await node()).Status).toBe('initializing');
  await fleet.obey();
  expect((await node()).Status).toBe('ready');
  expect((await allocationsOf()).map(({ ClientStatus }) => ClientStatus)).toEqual(['running']);
  const triggers = (await api.call('GET', '/v1/job/web/evaluations')).json.map(
    ({ TriggeredBy }: { TriggeredBy: string }) => TriggeredBy,
  );
  expect(triggers).toContain('reconnect');
});

test('the node is waited for across a change of leader', async () => {
  const world = new SimulatedWorld(1);
  const disk = new MemoryDisk();
  let server = await startOn(world, disk);
  const bound: FleetApi = {
    world,
    call: (method, url, { body, token } = {}) =>
      server.call(method, url, body, token ?? undefined) as ReturnType<FleetApi['call']>,
  };
  const nodes = new Fleet(bound);
  await nodes.join(1);
  await server.call('POST', '/v1/jobs', jobBody({}, { Disconnect: waits }));
  await world.advance(0);
  await nodes.pass(2_000);
  nodes.cut(1);
  await nodes.pass(60_000);
  server.server.stop();
  disk.crash('kept');
  server = await startOn(world, disk);
  const status = async () => (await server.call('GET', `/v1/node/${idOf(1)}`)).json.Status;
  await nodes.pass(200_000);
  expect(await status()).toBe('disconnected');
  await nodes.pass(100_000);
  expect(await status()).toBe('down');
});

test('a reconnected allocation that is lost again is replaced again, and continues when it is back', async () => {
  await fleet.join(1);
  const Disconnect = { LostAfter: 600e9, Replace: true, Reconcile: 'keep_original' };
  const version = (v: string) =>
    jobBody(
      { Constraints: [{ Operand: 'distinct_hosts', RTarget: 'false' }] },
      { Count: 2, Disconnect, Update: { MaxParallel: 1, MinHealthyTime: '0s' } },
      { Env: { v } },
    );
  await api.call('POST', '/v1/jobs', { body: version('0') });
  await fleet.pass(5_000);
  // While a failed deployment holds the group back, only replacements are placed.
  await api.call('POST', '/v1/jobs', { body: version('1') });
  await api.settle();
  const { ID } = (await api.call('GET', '/v1/job/web/deployment')).json;
  await api.call('PUT', `/v1/deployment/fail/${ID}`);
  await fleet.pass(3_000);
  const original = (await allocationsOf()).find(
    ({ JobVersion, DesiredStatus }) => JobVersion === 0 && DesiredStatus === 'run',
  )!;
  const n = [1, 2].find((one) => idOf(one) === original.NodeID)!;
  const running = async () =>
    (await allocationsOf()).filter(
      ({ ClientStatus, DesiredStatus }) => ClientStatus === 'running' && DesiredStatus === 'run',
    );
  for (const _ of ['once', 'and again']) {
    fleet.cut(n);
    await fleet.pass(60_000);
    expect(await running()).toHaveLength(2);
    await fleet.restore(n);
    await fleet.pass(5_000);
    expect((await running()).map((one) => one.ID)).toContain(original.ID);
    expect(await running()).toHaveLength(2);
  }
});

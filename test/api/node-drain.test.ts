import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isTerminal } from '../../src/model/allocation/allocation-rules.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { allocations, inNamespace } from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, type FleetApi, idOf } from '../support/fleet.ts';
import { startOn } from '../support/start-on.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(1);
});

const first = `/v1/node/${idOf(1)}`;
const read = async () => (await api.call('GET', first)).json;
const drain = (spec: object | null, more: object = {}) =>
  api.call('PUT', `${first}/drain`, { body: { DrainSpec: spec, ...more } });
const patient = { Deadline: 0 };

async function allocationsOf(job: string): Promise<Allocation[]> {
  return (await api.call('GET', `/v1/job/${job}/allocations`)).json;
}
const live = async (job = 'web') => (await allocationsOf(job)).filter((one) => !isTerminal(one));
const onFirst = async (job = 'web') =>
  (await allocationsOf(job)).filter(
    (one) => one.NodeID === idOf(1) && one.ClientStatus === 'running',
  ).length;
const marked = async (job = 'web') =>
  (await allocationsOf(job)).filter((one) => one.DesiredTransition.Migrate === true).length;

/** A job with all allocations on the first node, and a second, empty node. */
async function run(changes: object = {}, group: object = {}) {
  await api.call('POST', '/v1/jobs', { body: jobBody(changes, { Count: 3, ...group }) });
  await api.settle();
  await fleet.pass(5_000);
  await fleet.join(1);
}

describe('a drain', () => {
  test('keeps new work away from the start, and is visible', async () => {
    await fleet.join(1);
    const { status, json } = await drain(patient, { Meta: { message: 'new kernel' } });
    expect([status, json.EvalIDs]).toEqual([200, []]);
    const node = await read();
    // The node is empty, so its drain is complete at the first look.
    expect(node).toMatchObject({ Drain: true, SchedulingEligibility: 'ineligible' });
    expect(node.DrainStrategy).toMatchObject({ Deadline: 0, ForceDeadline: null });
    expect(node.LastDrain).toMatchObject({ Status: 'draining', Meta: { message: 'new kernel' } });
    expect(node.LastDrain.AccessorID).not.toBe('');
    expect(node.Events.at(-1)).toMatchObject({ Subsystem: 'Drain' });
    await api.call('POST', '/v1/jobs', { body: jobBody() });
    await api.settle();
    expect((await live()).map(({ NodeID }) => NodeID)).toEqual([idOf(2)]);
  });

  test('of an empty node completes at once, and the node stays ineligible', async () => {
    await drain(patient);
    await api.settle();
    const node = await read();
    expect(node).toMatchObject({
      Drain: false,
      DrainStrategy: null,
      SchedulingEligibility: 'ineligible',
      LastDrain: { Status: 'complete' },
    });
    expect(node.Events.at(-1).Message).toBe('Node drain complete');
  });

  test('can make the node eligible when it is complete', async () => {
    await drain(patient, { MarkEligible: true });
    await api.settle();
    expect(await read()).toMatchObject({ Drain: false, SchedulingEligibility: 'eligible' });
  });

  test('moves one allocation of a group at a time and waits for its replacement', async () => {
    await run();
    await drain(patient);
    await api.settle();
    expect(await marked()).toBe(1);
    // The replacement runs without being healthy: no more allocations move, for any time.
    await fleet.pass(60_000, ({ NodeID }) => (NodeID === idOf(1) ? 'running' : undefined));
    expect([await marked(), await onFirst()]).toEqual([1, 2]);
    await fleet.obey();
    await api.world.advance(1_000);
    expect(await marked()).toBe(2);
    await fleet.pass(30_000);
    expect(await read()).toMatchObject({ Drain: false, LastDrain: { Status: 'complete' } });
    expect((await live()).map(({ NodeID }) => NodeID)).toEqual(Array(3).fill(idOf(2)));
  });

  test('moves as many allocations of a group as its migrate block allows', async () => {
    await run({}, { Migrate: { MaxParallel: 2 } });
    await drain(patient);
    await api.settle();
    expect(await marked()).toBe(2);
  });

  test('counts missing allocations elsewhere: a group never lacks more than allowed', async () => {
    await run({}, { Count: 4 });
    await drain(patient);
    await fleet.pass(4_000, ({ NodeID }) => (NodeID === idOf(1) ? 'running' : undefined));
    const before = await marked();
    // The replacement is lost with its node, so the rest has to wait.
    fleet.cut(2);
    await fleet.pass(40_000);
    expect([before, await marked()]).toEqual([1, 1]);
  });

  test('leaves batch jobs until the deadline, then moves all at once', async () => {
    await run({ ID: 'nightly', Type: 'batch' });
    await drain({ Deadline: 60e9 });
    await fleet.pass(59_000);
    expect(await marked('nightly')).toBe(0);
    await fleet.pass(2_000);
    expect(await marked('nightly')).toBe(3);
    await fleet.pass(10_000);
    expect(await read()).toMatchObject({ Drain: false, LastDrain: { Status: 'complete' } });
    expect(await live('nightly')).toHaveLength(3);
  });

  test('completes when the batch jobs have ended', async () => {
    await run({ ID: 'nightly', Type: 'batch' });
    await drain(patient);
    await fleet.pass(5_000, () => 'complete');
    expect((await read()).Drain).toBe(false);
  });

  test('stops system jobs last and does not move them', async () => {
    await run();
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'agent', Type: 'system' }) });
    await api.settle();
    await fleet.pass(2_000);
    await drain(patient);
    for (let second = 0; (await onFirst()) > 0; second++) {
      expect([second < 60, await onFirst('agent')]).toEqual([true, 1]);
      await fleet.pass(1_000);
    }
    await fleet.pass(5_000);
    expect(await read()).toMatchObject({ Drain: false, LastDrain: { Status: 'complete' } });
    expect((await live('agent')).map(({ NodeID }) => NodeID)).toEqual([idOf(2)]);
  });

  test('leaves system jobs when told to', async () => {
    await run();
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'agent', Type: 'system' }) });
    await api.settle();
    await fleet.pass(2_000);
    await drain({ Deadline: -1, IgnoreSystemJobs: true });
    await fleet.pass(10_000);
    expect(await read()).toMatchObject({ Drain: false, LastDrain: { Status: 'complete' } });
    expect(await onFirst('agent')).toBe(1);
  });

  test('with a negative deadline moves all at once', async () => {
    await run();
    await drain({ Deadline: -1 });
    await api.settle();
    expect(await marked()).toBe(3);
  });

  test('can be accelerated while it is under way', async () => {
    await run();
    await drain(patient, { Meta: { message: 'slowly' } });
    await api.settle();
    const { StartedAt } = (await read()).LastDrain;
    await api.world.advance(5_000);
    await drain({ Deadline: -1 });
    await api.settle();
    expect(await marked()).toBe(3);
    expect((await read()).LastDrain).toMatchObject({ StartedAt, Meta: { message: 'slowly' } });
  });

  test('completes when stopped allocations have really ended', async () => {
    await run();
    await drain({ Deadline: -1 });
    for (let second = 0; second < 60; second++) {
      await api.world.advance(1_000);
      await fleet.beat();
    }
    expect((await read()).Drain).toBe(true);
    await fleet.pass(3_000);
    expect((await read()).Drain).toBe(false);
  });
});

describe('canceling a drain', () => {
  test('keeps the remaining allocations and makes the node eligible', async () => {
    await api.call('POST', '/v1/jobs', { body: jobBody({}, { Count: 2 }) });
    await api.settle();
    await fleet.pass(5_000);
    await drain(patient);
    await api.settle();
    const { json } = await drain(null, { MarkEligible: true });
    expect(json.EvalIDs.length).toBeGreaterThan(0);
    await fleet.pass(5_000);
    const node = await read();
    expect(node).toMatchObject({ Drain: false, SchedulingEligibility: 'eligible' });
    expect(node.LastDrain.Status).toBe('canceled');
    expect((await live()).map(({ NodeID }) => NodeID)).toEqual([idOf(1), idOf(1)]);
  });

  test('withdraws pending moves', async () => {
    await run();
    await drain(patient);
    const [one] = await live();
    await api.state.write((transaction) => {
      const DesiredTransition = { ...one!.DesiredTransition, Migrate: true };
      const row = transaction.table(allocations).get(...inNamespace('default', one!.ID))!;
      transaction.table(allocations).put({ ...row, DesiredTransition });
    });
    const { json } = await drain(null);
    expect(json.EvalIDs).toHaveLength(1);
    expect(await marked()).toBe(0);
    const evaluation = (await api.call('GET', `/v1/evaluation/${json.EvalIDs[0]}`)).json;
    expect(evaluation).toMatchObject({ TriggeredBy: 'node-drain', JobID: 'web' });
  });

  test('keeps the node ineligible on request', async () => {
    await run();
    await drain(patient);
    await drain(null);
    expect(await read()).toMatchObject({ Drain: false, SchedulingEligibility: 'ineligible' });
  });

  test('a node that is not being drained changes only its eligibility', async () => {
    await drain(null);
    expect(await read()).toMatchObject({ SchedulingEligibility: 'eligible', LastDrain: null });
  });
});

test('a node cannot be made eligible while it is drained', async () => {
  await run();
  await drain(patient);
  const answer = await api.call('PUT', `${first}/eligibility`, {
    body: { Eligibility: 'eligible' },
  });
  expect([answer.status, answer.json.code]).toEqual([409, 'node-draining']);
});

test('a lost node ends its drain', async () => {
  await run();
  await drain(patient);
  await api.settle();
  fleet.cut(1);
  await fleet.pass(60_000);
  expect(await read()).toMatchObject({ Status: 'down', Drain: false });
  expect(await live()).toHaveLength(3);
});

test.each([
  ['another node', { NodeID: idOf(2), DrainSpec: null }, 'id-mismatch'],
  ['an unknown field', { DrainSpec: { Dedline: 1 } }, 'invalid-body'],
  ['an invalid deadline', { DrainSpec: { Deadline: 'soon' } }, 'invalid-body'],
  ['a deadline beyond all plans', { DrainSpec: { Deadline: 9e15 } }, 'invalid-body'],
  ['a label too long', { DrainSpec: {}, Meta: { why: 'x'.repeat(513) } }, 'invalid-body'],
] as const)('%s is refused and changes nothing', async (_title, body, code) => {
  const before = api.state.read().index;
  const answer = await api.call('PUT', `${first}/drain`, { body });
  expect([answer.status, answer.json.code]).toEqual([400, code]);
  expect(api.state.read().index).toBe(before);
});

test('a drain continues on the next server', async () => {
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
  await server.call('POST', '/v1/jobs', jobBody({}, { Count: 2 }));
  await world.advance(0);
  await nodes.pass(5_000);
  await nodes.join(1);
  await server.call('PUT', `${first}/drain`, { DrainSpec: { Deadline: 600e9 } });
  server.server.stop();
  disk.crash('kept');
  server = await startOn(world, disk);
  await nodes.pass(30_000);
  const { json: node } = await server.call('GET', first);
  expect(node).toMatchObject({ Drain: false, LastDrain: { Status: 'complete' } });
});

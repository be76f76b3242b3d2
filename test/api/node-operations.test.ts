import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isTerminal } from '../../src/model/allocation/allocation-rules.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

const url = (n: number, rest = '') => `/v1/node/${idOf(n)}${rest}`;
const read = async (n = 1) => (await api.call('GET', url(n))).json;
const submit = (changes: object = {}, group: object = {}) =>
  api.call('POST', '/v1/jobs', { body: jobBody(changes, group) });
const allocationsOf = async (job = 'web'): Promise<Allocation[]> =>
  (await api.call('GET', `/v1/job/${job}/allocations`)).json;
const live = async (job = 'web') => (await allocationsOf(job)).filter((one) => !isTerminal(one));
const triggers = async (job: string): Promise<string[]> =>
  (await api.call('GET', `/v1/job/${job}/evaluations`)).json
    .sort((left: Evaluation, right: Evaluation) => left.CreateIndex - right.CreateIndex)
    .map(({ TriggeredBy }: Evaluation) => TriggeredBy);

describe('eligibility', () => {
  const set = (Eligibility: unknown, n = 1) =>
    api.call('PUT', url(n, '/eligibility'), { body: { Eligibility } });

  test('when lost, keeps new work away and leaves running allocations', async () => {
    await fleet.join(1);
    await submit();
    await api.settle();
    await fleet.obey();
    const { status, json } = await set('ineligible');
    expect([status, json.EvalIDs]).toEqual([200, []]);
    expect((await read()).Events.at(-1).Message).toMatch(/ineligible/);
    await submit({ ID: 'later' });
    await api.settle();
    expect([(await live()).length, (await live('later')).length]).toEqual([1, 0]);
  });

  test('when restored, admits waiting work', async () => {
    await fleet.join(1);
    await set('ineligible');
    await submit();
    await api.settle();
    await set('eligible');
    await api.settle();
    expect(await live()).toHaveLength(1);
  });

  test('that is already set changes nothing', async () => {
    await fleet.join(1);
    const { ModifyIndex } = await read();
    const { json } = await set('eligible');
    expect(json).toMatchObject({ EvalIDs: [], NodeModifyIndex: ModifyIndex });
    expect((await read()).ModifyIndex).toBe(ModifyIndex);
  });

  test.each([
    ['no word', {}],
    ['another word', { Eligibility: 'maybe' }],
    ['something else', { Eligibility: 1 }],
  ])('with %s is refused', async (_title, body) => {
    await fleet.join(1);
    const answer = await api.call('PUT', url(1, '/eligibility'), { body });
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([400, '/Eligibility']);
  });

  test('of an unknown node is a 404', async () => {
    const answer = await set('eligible', 9);
    expect([answer.status, answer.json.code]).toEqual([404, 'node-not-found']);
  });
});

describe('evaluating a node', () => {
  test('evaluates every job with an allocation on it', async () => {
    await fleet.join(1);
    await submit();
    await submit({ ID: 'other' });
    await api.settle();
    const { json } = await api.call('PUT', url(1, '/evaluate'));
    expect(json.EvalIDs).toHaveLength(2);
    expect(json.EvalCreateIndex).toBe(json.Index);
    await api.settle();
    expect(await triggers('other')).toEqual(['job-register', 'node-update']);
  });

  test('evaluates nothing for an empty node', async () => {
    await fleet.join(1);
    const { json } = await api.call('POST', url(1, '/evaluate'));
    expect(json).toMatchObject({ EvalIDs: [], EvalCreateIndex: 0 });
  });
});

describe('purging a node', () => {
  test('deletes it, loses its allocations and replaces them elsewhere', async () => {
    await fleet.join(1);
    await submit({}, { Count: 2 });
    await api.settle();
    await fleet.obey();
    await fleet.join(1);
    const { status, json } = await api.call('PUT', url(1, '/purge'));
    expect([status, json.EvalIDs.length]).toEqual([200, 1]);
    expect((await api.call('GET', url(1))).status).toBe(404);
    await api.settle();
    const lost = (await allocationsOf()).filter(({ ClientStatus }) => ClientStatus === 'lost');
    expect(lost).toHaveLength(2);
    expect((await live()).map(({ NodeID }) => NodeID)).toEqual([idOf(2), idOf(2)]);
  });

  test('invalidates its secret, and it may register again', async () => {
    await fleet.join(1);
    await api.call('PUT', url(1, '/purge'));
    await fleet.beat();
    expect(await read()).toMatchObject({ Status: 'ready' });
  });

  test('is refused for an unknown node', async () => {
    expect((await api.call('PUT', url(1, '/purge'))).json.code).toBe('node-not-found');
  });
});

describe('the list of nodes', () => {
  beforeEach(() =>
    fleet.join(3, { Attributes: { 'os.name': 'debian', 'os.version': '12', other: 'x' } }),
  );
  const names = (json: { Name: string }[]) => json.map(({ Name }) => Name);

  test.each([
    ['all', '', ['n1', 'n2', 'n3']],
    ['by the beginning of the id', `?prefix=${idOf(2).slice(0, 8)}`, ['n2']],
    ['by a filter', '?filter=Name+!=+n2', ['n1', 'n3']],
    ['in reverse', '?reverse=true', ['n3', 'n2', 'n1']],
    ['by page', '?per_page=2', ['n1', 'n2']],
  ])('%s', async (_title, query, expected) => {
    expect(names((await api.call('GET', `/v1/nodes${query}`)).json)).toEqual(expected);
  });

  test('shows operating system and resources on request', async () => {
    const [plain] = (await api.call('GET', '/v1/nodes')).json;
    expect([plain.Attributes, plain.NodeResources]).toEqual([undefined, undefined]);
    const [full] = (await api.call('GET', '/v1/nodes?os=true&resources=true')).json;
    expect(full.Attributes).toEqual({ 'os.name': 'debian', 'os.version': '12' });
    expect(full.NodeResources.Cpu.CpuShares).toBe(4000);
  });

  test('wakes on a drain', async () => {
    const { headers } = await api.call('GET', '/v1/nodes');
    const waiting = api.call('GET', `/v1/nodes?index=${headers['x-scheduler-index']}`);
    await api.call('PUT', url(2, '/drain'), { body: { DrainSpec: {} } });
    expect((await waiting).json[1]).toMatchObject({
      Drain: true,
      LastDrain: { Status: 'draining' },
    });
  });
});

describe('a new node', () => {
  const everywhere = { ID: 'agent', Type: 'system' };

  test('causes evaluations of system jobs in its place', async () => {
    await submit(everywhere);
    await submit({ ...everywhere, ID: 'elsewhere', Datacenters: ['eu-*'] });
    await api.settle();
    await fleet.join(1);
    await api.settle();
    expect(await triggers('agent')).toContain('node-update');
    expect(await triggers('elsewhere')).not.toContain('node-update');
    await fleet.join(1, { Datacenter: 'eu-west' });
    await api.settle();
    expect(await triggers('elsewhere')).toContain('node-update');
  });

  test('gets the allocations of system jobs, and again when it is eligible again', async () => {
    await submit(everywhere);
    await fleet.join(1);
    await api.settle();
    expect(await live('agent')).toHaveLength(1);
    await fleet.join(1);
    await api.call('PUT', url(2, '/eligibility'), { body: { Eligibility: 'ineligible' } });
    await submit({ ...everywhere, ID: 'other' });
    await api.settle();
    expect((await live('other')).map(({ NodeID }) => NodeID)).toEqual([idOf(1)]);
    await api.call('PUT', url(2, '/eligibility'), { body: { Eligibility: 'eligible' } });
    await api.settle();
    expect(await live('other')).toHaveLength(2);
  });

  test('causes no evaluations of stopped system jobs', async () => {
    await submit(everywhere);
    await api.call('DELETE', '/v1/job/agent');
    await api.settle();
    const before = (await triggers('agent')).length;
    await fleet.join(1);
    await api.settle();
    expect(await triggers('agent')).toHaveLength(before);
  });

  test('causes evaluations of its jobs when its attributes change', async () => {
    await fleet.join(1);
    await submit();
    await api.settle();
    await fleet.register(1, { Meta: { rack: 'r2' } });
    await api.settle();
    expect(await triggers('web')).toEqual(['job-register', 'node-update']);
  });
});

test('a lost node has to register again before its reports count', async () => {
  await fleet.join(1);
  await submit();
  await api.settle();
  const [{ ID }] = (await allocationsOf()) as [Allocation];
  await api.world.advance(60_000);
  const secret = `${idOf(1).slice(0, -1)}f`;
  const answer = await api.call('PUT', url(1, '/status'), {
    token: secret,
    body: { Allocations: [{ ID, ClientStatus: 'running' }] },
  });
  expect([answer.status, answer.json.code]).toEqual([404, 'node-not-registered']);
});

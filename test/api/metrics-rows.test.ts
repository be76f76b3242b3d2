/** Metrics of stored rows: they equal what the lists of the API show, whatever has happened. */
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { OrderedIndex } from '../../src/state/ordered-index.ts';
import { clusterIdentity } from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';
import { testsFollower } from '../support/follower.ts';
import { countsOf, valuesOf } from '../support/metrics.ts';

let api: TestApi;
let fleet: Fleet;

beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

const read = async () => (await api.call('GET', '/v1/metrics')).json;

// biome-ignore lint/suspicious/noExplicitAny: rows of every noun.
type Row = any;

/** The number of rows in a list, by these parts of each. */
async function listed(url: string, partsOf: (row: Row) => readonly string[]) {
  const { json } = await api.call('GET', url);
  const counts: Record<string, number> = {};
  for (const row of json) {
    const key = partsOf(row).join(' ');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

const parentOf = (id: string): string => id.replace(/\/(dispatch|periodic)-.*/, '');

/** Compares each metric of rows with a list. */
async function expectSame(): Promise<void> {
  const metrics = await read();
  const all = 'namespace=*';
  const lists = {
    roster_jobs: await listed(`/v1/jobs?${all}`, (row) => [row.Namespace, row.Type, row.Status]),
    roster_allocations: await listed(`/v1/allocations?${all}`, (row) => [
      row.Namespace,
      parentOf(row.JobID),
      row.ClientStatus,
    ]),
    roster_deployments: await listed(`/v1/deployments?${all}`, (row) => [
      row.Namespace,
      row.Status,
    ]),
    roster_evaluations: await listed(`/v1/evaluations?${all}`, (row) => [row.Status]),
    roster_nodes: await listed('/v1/nodes', (row) => [row.NodePool, row.Status]),
    roster_nodes_work: await listed('/v1/nodes', (row) => [
      row.NodePool,
      row.Drain ? 'draining' : row.SchedulingEligibility,
    ]),
  };
  for (const [name, counts] of Object.entries(lists)) {
    expect([name, countsOf(metrics, name)]).toEqual([name, counts]);
  }
  expect(valuesOf(metrics, 'roster_state_rows')).toMatchObject({
    allocations: total(lists.roster_allocations),
    nodes: total(lists.roster_nodes),
  });
}

const total = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

const post = async (Job: object, namespace = 'default') => {
  const { status, text } = await api.call('POST', `/v1/jobs?namespace=${namespace}`, {
    body: { Job: { ...Job, Namespace: namespace } },
  });
  expect([status, text]).toEqual([200, text]);
};

/** A job of `count` allocations, which are not started again. */
const jobOf = (ID: string, count: number, more: object = {}) => {
  const { Job } = jobBody({ ID }) as { Job: { TaskGroups: object[] } };
  const [group] = Job.TaskGroups as [object];
  const rest = {
    RestartPolicy: { Attempts: 0, Mode: 'fail' },
    ReschedulePolicy: { Attempts: 0, Unlimited: false },
  };
  return { ...Job, TaskGroups: [{ ...group, Count: count, ...rest }], ...more };
};

test('counts follow jobs, allocations, deployments, evaluations and nodes through their lives', async () => {
  await expectSame();
  await fleet.join(3);
  await expectSame();
  await post(jobOf('web', 3));
  await api.call('PUT', '/v1/namespace/apart', { body: { Name: 'apart' } });
  await post(jobOf('other', 2), 'apart');
  await post({ ...jobOf('daily', 1, { Type: 'batch' }), ParameterizedJob: {} });
  await fleet.pass(2000);
  await expectSame();
  for (let at = 0; at < 3; at++) await api.call('PUT', '/v1/job/daily/dispatch', { body: {} });
  await fleet.pass(2000, ({ JobID }) => (JobID.startsWith('daily') ? 'complete' : 'running'));
  expect(countsOf(await read(), 'roster_allocations')).toMatchObject({
    'default daily complete': 3,
  });
  await expectSame();
  await fleet.pass(2000, ({ JobID }) => (JobID === 'other' ? 'failed' : 'running'));
  await expectSame();
  await api.call('PUT', `/v1/node/${idOf(1)}/drain`, { body: { DrainSpec: { Deadline: 0 } } });
  await api.call('PUT', `/v1/node/${idOf(2)}/eligibility`, { body: { Eligibility: 'ineligible' } });
  await fleet.pass(3000);
  await expectSame();
  fleet.cut(3);
  await fleet.pass(60_000);
  await expectSame();
  await api.call('DELETE', '/v1/job/web?purge=true');
  await api.call('PUT', '/v1/system/gc');
  await fleet.pass(3000);
  await expectSame();
});

test('a request for metrics walks no table with many rows', async () => {
  await fleet.join(1);
  const many = 60;
  await post(
    jobOf('many', many, {
      TaskGroups: [{ ...groupAsking({ CPU: 1, MemoryMB: 10 }), Count: many }],
    }),
  );
  await fleet.pass(1000);
  expect(countsOf(await read(), 'roster_allocations')).toEqual({ 'default many running': many });
  const scan = vi.spyOn(OrderedIndex.prototype, 'scan');
  onTestFinished(() => scan.mockRestore());
  await read();
  const sizes = scan.mock.contexts.map((index) => (index as OrderedIndex<never>).size);
  expect(sizes.length).toBeGreaterThan(0);
  expect(Math.max(...sizes)).toBeLessThan(many);
});

test('a restored state is counted anew', async () => {
  await fleet.join(2);
  await post(jobOf('web', 2));
  await fleet.pass(2000);
  const { signal } = new AbortController();
  const { bytes } = await api.worked(api.call('GET', '/v1/operator/snapshot', { signal }));
  await post(jobOf('later', 2));
  await fleet.pass(2000);
  expect(countsOf(await read(), 'roster_allocations')).toHaveProperty('default later running', 2);
  const { ID } = api.state.read().table(clusterIdentity).get('cluster')!;
  const url = `/v1/operator/snapshot?force=${ID}`;
  const restored = await api.worked(api.call('PUT', url, { body: bytes }));
  expect(restored.status).toBe(200);
  expect(countsOf(await read(), 'roster_allocations')).toEqual({ 'default web running': 2 });
  await fleet.pass(2000);
  await expectSame();
});

test('counters tell placements, ends, restarts and the reasons of failed placements', async () => {
  await read();
  await fleet.join(2);
  await post(jobOf('web', 2));
  await post(jobOf('short', 1));
  await post(jobOf('greedy', 3, { TaskGroups: [groupAsking({ MemoryMB: 1e6 })] }));
  await post(
    jobOf('picky', 1, {
      Constraints: [{ LTarget: '${attr.os.name}', Operand: '=', RTarget: 'plan9' }],
    }),
  );
  await fleet.pass(3000, ({ JobID }) => (JobID === 'short' ? 'failed' : 'running'));
  const metrics = await read();
  expect(valuesOf(metrics, 'roster_placements_total')).toMatchObject({ 'default web': 2 });
  expect(countsOf(metrics, 'roster_allocations_ended_total')).toEqual({
    'default short failed': 1,
  });
  expect(countsOf(metrics, 'roster_placement_failures_total')).toEqual({
    memory: 3,
    constraint: 1,
  });
  expect(countsOf(metrics, 'roster_allocations_unplaced')).toEqual({
    'default greedy': 3,
    'default picky': 1,
  });
  const queue = valuesOf(metrics, 'roster_evaluation_queue', {});
  expect(queue.blocked).toBe(testsFollower ? undefined : 2);
  const age = () =>
    read().then((now) => valuesOf(now, 'roster_evaluation_oldest_age_seconds').blocked!);
  const before = await age();
  await fleet.pass(10_000);
  expect((await age()) - before).toBe(10);
  await api.call('DELETE', '/v1/job/greedy');
  await api.call('DELETE', '/v1/job/picky');
  await fleet.pass(1000);
  expect(await age()).toBe(0);
});

const groupAsking = (Resources: object) => ({
  Name: 'g',
  Count: 3,
  Tasks: [{ Name: 't', Driver: 'mock', Resources }],
});

test('restarts of tasks are counted by job', async () => {
  await fleet.join(1);
  await post(jobOf('web', 1));
  await fleet.pass(1000);
  await read();
  const [{ ID }] = (await api.call('GET', '/v1/job/web/allocations')).json;
  for (const Restarts of [2, 3]) {
    const TaskStates = { server: { State: 'running', Restarts } };
    const { status } = await api.call('PUT', `/v1/node/${idOf(1)}/status`, {
      token: '00000001-0000-4000-8000-00000000000f',
      body: { Allocations: [{ ID, ClientStatus: 'running', TaskStates }] },
    });
    expect(status).toBe(200);
    await api.settle();
    expect(valuesOf(await read(), 'roster_task_restarts_total')).toEqual({
      'default web': Restarts,
    });
  }
});

test('the capacity of nodes and the part that allocations hold, without nodes that are down', async () => {
  await fleet.join(2);
  await post(
    jobOf('web', 2, { TaskGroups: [{ ...groupAsking({ CPU: 100, MemoryMB: 64 }), Count: 2 }] }),
  );
  await fleet.pass(2000);
  const sum = (metrics: unknown, name: string) =>
    Object.values(valuesOf(metrics, name)).reduce((all, one) => all + one, 0);
  const metrics = await read();
  expect(sum(metrics, 'roster_node_allocated_cpu_hertz')).toBe(200e6);
  expect(sum(metrics, 'roster_node_allocated_memory_bytes')).toBe(128 * 2 ** 20);
  const capacity = valuesOf(metrics, 'roster_node_capacity_memory_bytes');
  expect(Object.keys(capacity)).toEqual([`default n1 ${idOf(1)}`, `default n2 ${idOf(2)}`]);
  const { json: node } = await api.call('GET', `/v1/node/${idOf(1)}`);
  const { Memory } = node.NodeResources;
  expect(capacity[`default n1 ${idOf(1)}`]).toBe(Memory.MemoryMB * 2 ** 20);
  fleet.cut(1);
  await fleet.pass(60_000);
  const later = await read();
  expect(Object.keys(valuesOf(later, 'roster_node_capacity_memory_bytes'))).toHaveLength(1);
  expect(sum(later, 'roster_node_allocated_memory_bytes')).toBe(128 * 2 ** 20);
});

test('no label and no value holds a secret, or the name of a variable', async () => {
  await fleet.join(1);
  await api.call('PUT', '/v1/var/hidden/place', {
    body: { Items: { hidden_key: 'hidden-value' } },
  });
  const { json } = await api.call('PUT', '/v1/acl/token', {
    body: { Description: 'hidden words' },
  });
  await api.call('GET', '/v1/jobs', { token: 'hidden-secret' });
  const { text } = await api.call('GET', '/v1/metrics?format=prometheus');
  for (const secret of ['hidden', json.SecretID, json.AccessorID])
    expect(text).not.toContain(secret);
  expect(valuesOf(await read(), 'roster_tokens_refused_total')).toEqual({ '': 1 });
});

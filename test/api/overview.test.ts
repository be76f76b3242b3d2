/** The numbers of all that a caller may see. Source: docs/behaviour/attention.md#the-overview. */
import { beforeEach, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

async function overview(query = '?namespace=*', token: string | null = rootToken) {
  const answer = await api.call('GET', `/v1/overview${query}`, { token });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json;
}
const register = async (changes: object, group: object = {}) => {
  const { Namespace = 'default' } = changes as { Namespace?: string };
  const body = jobBody(changes, group);
  const answer = await api.call('POST', `/v1/jobs?namespace=${Namespace}`, { body });
  expect(answer.status).toBe(200);
  await api.world.advance(1000);
};
const none = { CPU: 0, MemoryMB: 0, DiskMB: 0 };

test('nothing is counted where there is nothing', async () => {
  const empty = { Jobs: {}, Allocations: {}, Nodes: {}, Capacity: none, Allocated: none };
  expect(await overview()).toEqual(empty);
});

test('counts follow jobs, allocations and nodes, within the namespace that is asked for', async () => {
  await fleet.join(2);
  // The first read counts from scratch, and the next ones follow the changes.
  expect(await overview()).toMatchObject({ Jobs: {}, Nodes: { ready: 2 }, Allocated: none });
  await api.call('PUT', '/v1/namespace/team', { body: { Name: 'team' } });
  await register({ ID: 'web' }, { Count: 2 });
  await register({ ID: 'api', Namespace: 'team' }, { Count: 1 });
  await fleet.pass(5000);
  const all = await overview();
  expect(all).toMatchObject({ Jobs: { running: 2 }, Allocations: { running: 3 } });
  expect(all.Allocated.CPU).toBeGreaterThan(0);
  expect(all.Capacity.CPU).toBeGreaterThan(all.Allocated.CPU);
  const Team = { Jobs: { running: 1 }, Allocations: { running: 1 } };
  expect(await overview('?namespace=team')).toMatchObject(Team);
  expect(await overview('')).toMatchObject({ Jobs: { running: 1 }, Allocations: { running: 2 } });
  await api.call('POST', `/v1/node/${idOf(1)}/eligibility`, {
    body: { Eligibility: 'ineligible' },
  });
  expect((await overview()).Nodes).toEqual({ ready: 1, ineligible: 1 });
  await api.call('DELETE', '/v1/job/web');
  await fleet.pass(5000);
  expect((await overview()).Jobs).toEqual({ running: 1, dead: 1 });
});

test('a caller is told the numbers of what it may read, and nothing else', async () => {
  await fleet.join(1);
  await api.call('PUT', '/v1/namespace/team', { body: { Name: 'team' } });
  await register({ ID: 'web' });
  await register({ ID: 'api', Namespace: 'team' });
  const { holder } = aclOf(api);
  const reader = await holder('namespace "team" { policy = "read" }');
  const seen = await overview('?namespace=*', reader);
  expect(seen).toMatchObject({ Nodes: {}, Capacity: none, Allocated: none });
  expect(Object.values(seen.Jobs)).toEqual([1]);
  expect(await overview('?namespace=default', reader)).toMatchObject({ Jobs: {} });
  expect(await overview('?namespace=*', null)).toMatchObject({ Jobs: {}, Nodes: {} });
});

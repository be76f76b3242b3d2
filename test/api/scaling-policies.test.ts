import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const block = { Min: 1, Max: 9, Policy: { cooldown: '1m' } };
const register = async (changes: object = {}, group: object = { Scaling: block }, query = '') => {
  const body = jobBody(changes, { Update: { MaxParallel: 0 }, ...group });
  const { status, text } = await api.call('POST', `/v1/jobs${query}`, { body });
  expect(status, text).toBe(200);
  await api.settle();
};
const list = async (query = '') => (await api.call('GET', `/v1/scaling/policies${query}`)).json;
const jobsOf = (policies: readonly { readonly Target: { readonly Job: string } }[]) =>
  policies.map(({ Target }) => Target.Job);

test('a scaling block of a job creates a policy', async () => {
  await register();
  const [stub] = await list();
  expect(stub).toEqual({
    ID: expect.stringMatching(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
    Enabled: true,
    Type: 'horizontal',
    Target: { Namespace: 'default', Job: 'web', Group: 'web' },
    CreateIndex: stub.CreateIndex,
    ModifyIndex: stub.CreateIndex,
  });
  const { json } = await api.call('GET', `/v1/scaling/policy/${stub.ID}`);
  expect(json).toEqual({ ...stub, Namespace: 'default', ...block });
  const job = (await api.call('GET', '/v1/job/web')).json;
  expect(job.TaskGroups[0].Scaling.ID).toBe(stub.ID);
});

test('a scaling block of a task creates a policy as well', async () => {
  const task = { ScalingPolicies: [{ Type: 'vertical_cpu', Max: 3 }] };
  const body = jobBody({}, {}, task);
  await api.call('POST', '/v1/jobs', { body });
  expect(await list()).toMatchObject([
    { Type: 'vertical_cpu', Target: { Job: 'web', Group: 'web', Task: 'server' } },
  ]);
});

test('a policy keeps its id, and its index changes only with the policy', async () => {
  await register();
  const [first] = await list();
  await register({ Priority: 70 });
  expect(await list()).toEqual([first]);
  await register({}, { Scaling: { ...block, Max: 10 } });
  const [changed] = await list();
  expect(changed.ID).toBe(first.ID);
  expect(changed.CreateIndex).toBe(first.CreateIndex);
  expect(changed.ModifyIndex).toBeGreaterThan(first.ModifyIndex);
});

test('stopping the job disables its policy, a new version may remove it, a purge deletes it', async () => {
  await register();
  await api.call('DELETE', '/v1/job/web');
  await api.settle();
  expect(await list()).toMatchObject([{ Enabled: false }]);
  await register();
  expect(await list()).toMatchObject([{ Enabled: true }]);
  await register({}, {});
  expect(await list()).toEqual([]);
  await register();
  await api.call('DELETE', '/v1/job/web?purge=true');
  expect(await list()).toEqual([]);
});

describe('the list', () => {
  beforeEach(async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: {} });
    await register({ ID: 'a' });
    await register({ ID: 'b' }, { Scaling: { ...block, Enabled: false } });
    await register({ ID: 'c' }, {});
    await register({ ID: 'a' }, { Scaling: block }, '?namespace=shop');
  });

  test.each([
    ['', ['a', 'b']],
    ['?job=b', ['b']],
    ['?job=none', []],
    ['?type=horizontal', ['a', 'b']],
    ['?job=a&type=horizontal', ['a']],
    ['?type=vertical_cpu', []],
    ['?filter=Enabled == false', ['b']],
    ['?filter=Max == 9', ['a', 'b']],
    ['?reverse=true', ['b', 'a']],
    ['?namespace=shop', ['a']],
    ['?namespace=*', ['a', 'b', 'a']],
    ['?namespace=*&job=a', ['a', 'a']],
  ])('%s', async (query, expected) => {
    expect(jobsOf(await list(query))).toEqual(expected);
  });

  test('is paged', async () => {
    const first = await api.call('GET', '/v1/scaling/policies?namespace=*&per_page=2');
    const token = encodeURIComponent(first.headers['x-scheduler-nexttoken']!);
    const rest = await list(`?namespace=*&per_page=2&next_token=${token}`);
    expect([...jobsOf(first.json), ...jobsOf(rest)]).toEqual(['a', 'b', 'a']);
  });

  test('wakes blocking queries for its own changes only', async () => {
    const { headers } = await api.call('GET', '/v1/scaling/policies');
    let isOver = false;
    const waiting = api
      .call('GET', `/v1/scaling/policies?index=${headers['x-scheduler-index']}&wait=60s`)
      .then((answer) => {
        isOver = true;
        return answer;
      });
    await register({ ID: 'a', Priority: 60 });
    await api.settle();
    expect(isOver).toBe(false);
    await register({ ID: 'd' });
    await api.settle();
    expect(isOver).toBe(true);
    expect(jobsOf((await waiting).json)).toEqual(['a', 'b', 'd']);
  });

  test.each([
    ['list-scaling-policies', '"list-scaling-policies"', 200, 403],
    ['read-scaling-policy', '"read-scaling-policy"', 403, 200],
    ['list-jobs and read-job', '"list-jobs", "read-job"', 200, 200],
    ['list-jobs alone', '"list-jobs"', 403, 403],
    ['read-job alone', '"read-job"', 403, 403],
  ])('permission: %s', async (_, capabilities, listed, read) => {
    const [{ ID }] = await list('?job=a');
    const rules = `namespace "default" { capabilities = [${capabilities}] }`;
    const token = await aclOf(api).holder(rules);
    expect((await api.call('GET', '/v1/scaling/policies', { token })).status).toBe(listed);
    expect((await api.call('GET', `/v1/scaling/policy/${ID}`, { token })).status).toBe(read);
    const every = await api.call('GET', '/v1/scaling/policies?namespace=*', { token });
    expect(jobsOf(every.json)).toEqual(listed === 200 ? ['a', 'b'] : []);
    // The permission is needed in the policy's namespace, not in that of the request.
    const [other] = await list('?namespace=shop');
    const there = await api.call('GET', `/v1/scaling/policy/${other.ID}`, { token });
    expect(there.status).toBe(403);
  });

  test('an unknown policy is a 404', async () => {
    const { status, json } = await api.call('GET', '/v1/scaling/policy/none');
    expect([status, json.code]).toEqual([404, 'scaling-policy-not-found']);
  });
});

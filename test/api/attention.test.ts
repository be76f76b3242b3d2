import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';
import { testsFollower } from '../support/follower.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

const attention = async (query = '', token: string | null = rootToken) => {
  const url = `/v1/attention?namespace=*${query}`;
  const { status, json, text } = await api.call('GET', url, { token });
  if (status !== 200) throw new Error(text);
  return json;
};
const items = async (kind: string, token?: string) =>
  (await attention(`&kind=${kind}`, token)).Items;
const register = async (changes: object = {}, group: object = {}, task: object = {}) => {
  const body = jobBody(changes, group, task);
  const { Namespace = 'default' } = changes as { Namespace?: string };
  const answer = await api.call('POST', `/v1/jobs?namespace=${Namespace}`, { body });
  if (answer.status !== 200) throw new Error(answer.text);
  await api.world.advance(1000);
};

test('nothing needs attention where all is well', async () => {
  await fleet.join(1);
  await register();
  await fleet.pass(5000);
  expect(await attention()).toEqual({ Items: [], Total: 0, BySeverity: {}, ByKind: {} });
});

describe('jobs', () => {
  test('without a place: the evaluation with its reason, and the job that lacks allocations', async () => {
    await fleet.join(1);
    await register({ ID: 'large' }, { Count: 2 }, { Resources: { CPU: 100, MemoryMB: 100_000 } });
    const [blocked] = await items('evaluation-blocked');
    expect(blocked).toMatchObject({
      Severity: 'warning',
      Noun: 'evaluation',
      Name: 'large',
      Namespace: 'default',
      JobID: 'large',
      Since: expect.stringMatching(/^2026-01-01T00:00:0\dZ?/),
    });
    expect(blocked.Reason).toMatch(/2 allocations could not be placed: .*too little memory left/);
    const evaluation = await api.call('GET', `/v1/evaluation/${blocked.ID}`);
    expect(evaluation.json.Status).toBe('blocked');
    const [short] = await items('job-short');
    expect(short).toMatchObject({ Severity: 'critical', Noun: 'job', ID: 'large' });
    expect(short.Reason).toContain('0 of 2 run in group "web" (2 wait for a node)');
  });

  test('of a system job: once for what several nodes lack', async () => {
    await fleet.join(3);
    const large = { Resources: { CPU: 100, MemoryMB: 100_000 } };
    await register({ ID: 'everywhere', Type: 'system' }, {}, large);
    const blocked = await api.call('GET', '/v1/evaluations?status=blocked');
    expect(blocked.json.length).toBeGreaterThan(1);
    expect(await items('evaluation-blocked')).toHaveLength(1);
  });

  test('when there is room the items go away, and a stopped job has none', async () => {
    await register({ ID: 'early' });
    expect((await attention()).ByKind).toMatchObject({ 'evaluation-blocked': 1, 'job-short': 1 });
    await fleet.join(1);
    await fleet.pass(10_000);
    const { Items } = await attention();
    // Servers of tests send each other no news, so a follower takes the others to be behind.
    const isOfJobs = ({ Kind }: { Kind: string }) => !testsFollower || Kind !== 'server-behind';
    expect(Items.filter(isOfJobs)).toEqual([]);
    await register({ ID: 'never', NodePool: 'default', Datacenters: ['nowhere'] });
    expect(await items('job-short')).toHaveLength(1);
    await api.call('DELETE', '/v1/job/never');
    await api.world.advance(1000);
    expect(await items('job-short')).toEqual([]);
  });

  test('with allocations that start: a notice', async () => {
    await fleet.join(1);
    await register();
    const [short] = await items('job-short');
    expect([short.Severity, short.Reason]).toEqual([
      'notice',
      expect.stringContaining('0 of 1 run in group "web" (1 start)'),
    ]);
  });

  test('with an allocation that failed and is not replaced', async () => {
    await fleet.join(1);
    await register({ ID: 'fails' }, { ReschedulePolicy: { Attempts: 0, Unlimited: false } });
    await fleet.pass(5000, () => 'failed');
    const [failing] = await items('allocation-failing');
    expect(failing).toMatchObject({ Noun: 'allocation', JobID: 'fails', Severity: 'warning' });
    expect(failing.Reason).toContain('The allocation is failed and is not replaced');
  });
});

describe('nodes', () => {
  test('that are drained, or take no work', async () => {
    await fleet.join(2);
    await api.call('PUT', `/v1/node/${idOf(1)}/eligibility`, {
      body: { Eligibility: 'ineligible' },
    });
    expect((await items('node-ineligible')).map(({ Name }: { Name: string }) => Name)).toEqual([
      'n1',
    ]);
    await api.call('PUT', `/v1/node/${idOf(1)}/eligibility`, { body: { Eligibility: 'eligible' } });
    expect(await items('node-ineligible')).toEqual([]);
  });

  test('that are down: critical with allocations on them', async () => {
    await fleet.join(1);
    await register();
    await fleet.pass(5000);
    fleet.cut(1);
    await fleet.pass(120_000);
    const [down] = await items('node-down');
    expect(down).toMatchObject({ Noun: 'node', ID: idOf(1), Name: 'n1', Namespace: '' });
    expect(down.Reason).toMatch(/^The node is down: /);
  });

  test('that are nearly full', async () => {
    await fleet.join(1);
    await register({}, {}, { Resources: { CPU: 3700, MemoryMB: 64 } });
    await fleet.pass(5000);
    const [full] = await items('node-full');
    expect([full.Severity, full.Reason]).toEqual([
      'notice',
      'Allocations hold 93 % of its processor time',
    ]);
  });
});

test('a token that somebody made by hand and that ends soon', async () => {
  const acl = aclOf(api);
  const { AccessorID } = await acl.token({ Description: 'CI', ExpirationTTL: '4h' });
  expect(await items('token-ends')).toEqual([]);
  await api.world.advance(3 * 3_600_000 + 1000);
  const [ends] = await items('token-ends');
  expect(ends).toMatchObject({ Noun: 'token', ID: AccessorID, Name: 'CI', Severity: 'notice' });
  expect(ends.Reason).toBe('The token expires at 2026-01-01T04:00:00.000Z');
  await api.world.advance(3_600_000);
  expect(await items('token-ends')).toEqual([]);
});

describe('a caller sees', () => {
  test('items of nouns that it may read, and counts of these alone', async () => {
    await api.call('PUT', '/v1/namespace', { body: { Name: 'shop' } });
    await register({ ID: 'one' });
    await register({ ID: 'two', Namespace: 'shop' });
    await fleet.join(1, { Datacenter: 'elsewhere' });
    await api.call('PUT', `/v1/node/${idOf(1)}/eligibility`, {
      body: { Eligibility: 'ineligible' },
    });
    const token = await aclOf(api).holder('namespace "shop" { policy = "read" }');
    const seen = await attention('', token);
    expect(seen.ByKind).toEqual({ 'evaluation-blocked': 1, 'job-short': 1 });
    expect(JSON.stringify(seen)).not.toMatch(/"one"|n1/);
    expect((await attention('', null)).Total).toBe(0);
    const ofNodes = await aclOf(api).holder('node_prefix "" { policy = "read" }');
    expect((await attention('', ofNodes)).ByKind).toEqual({ 'node-ineligible': 1 });
  });

  test('one namespace, one severity, one job or a few items, as asked', async () => {
    for (const ID of ['a', 'b', 'c']) await register({ ID });
    const few = await attention('&limit=2');
    expect([few.Items.length, few.Total]).toEqual([2, 6]);
    expect(few.Items.map(({ Severity }: { Severity: string }) => Severity)).toEqual([
      'critical',
      'critical',
    ]);
    expect((await attention('&limit=0')).Items).toEqual([]);
    expect((await attention('&severity=warning')).BySeverity).toEqual({ warning: 3 });
    expect((await attention('&job=b')).Total).toBe(2);
    const other = await api.call('GET', '/v1/attention?namespace=other');
    expect(other.json.Total).toBe(0);
  });

  test.each(['severity=bad', 'kind=bad', 'limit=-1', 'limit=501'])('400 for %s', async (query) => {
    const { status, json } = await api.call('GET', `/v1/attention?${query}`);
    expect([status, json.code]).toEqual([400, 'invalid-query']);
  });
});

test('a blocking read wakes when something begins to need attention', async () => {
  const { headers } = await api.call('GET', '/v1/attention');
  const index = headers['x-scheduler-index'];
  const waiting = api.call('GET', `/v1/attention?index=${index}&wait=1m`);
  await register();
  const { json, headers: later } = await waiting;
  expect(json).toHaveProperty('Items');
  expect(Number(later['x-scheduler-index'])).toBeGreaterThan(Number(index));
  expect((await attention()).ByKind).toHaveProperty('job-short');
});

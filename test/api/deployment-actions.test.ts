/** Actions on deployments: permissions and refusals. */
import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { deployments } from '../../src/state/tables.ts';
import { jobBody, nodeBody } from '../support/api.ts';
import { Rollout } from '../support/rollout.ts';
import { startOn } from '../support/start-on.ts';

let rollout: Rollout;
beforeEach(async () => {
  rollout = await Rollout.start();
});

const second = 1000;
const minute = 60 * second;
const missing = '99999999-9999-4999-8999-999999999999';
const uuid = /^[0-9a-f-]{36}$/;

/** Version 1 is being deployed and makes no progress. */
async function halfway(update: object = {}): Promise<string> {
  await rollout.stable(update);
  rollout.fate = (one) => (one.JobVersion === 1 ? 'running' : 'healthy');
  await rollout.register('1', update);
  await rollout.pass(2 * second);
  return (await rollout.deployment()).ID;
}

describe('fail', () => {
  test('ends it, and reverts the job if any group has AutoRevert', async () => {
    const id = await halfway({ AutoRevert: true });
    const { status, json } = await rollout.api.call('POST', `/v1/deployment/fail/${id}`);
    expect([status, json]).toEqual([
      200,
      {
        EvalID: expect.stringMatching(uuid),
        EvalCreateIndex: json.Index,
        DeploymentModifyIndex: json.Index,
        RevertedJobVersion: 0,
        Index: json.Index,
      },
    ]);
    expect(await rollout.get(`/v1/deployment/${id}`)).toMatchObject({
      Status: 'failed',
      ModifyIndex: json.Index,
      StatusDescription: 'Deployment marked as failed - rolling back to job version 0',
    });
    await rollout.pass(10 * second);
    expect(await rollout.deployment()).toMatchObject({ JobVersion: 2, Status: 'successful' });
    expect(await rollout.of(1)).toEqual([]);
  });

  test('ends it, and changes nothing else without a version to revert to', async () => {
    const id = await halfway();
    const { json } = await rollout.act('fail', { DeploymentID: id });
    expect(json.RevertedJobVersion).toBeNull();
    await rollout.pass(10 * second);
    expect(await rollout.deployment()).toMatchObject({
      ID: id,
      Status: 'failed',
      StatusDescription: 'Deployment marked as failed',
    });
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Version: 1 });
  });
});

describe('allocation-health', () => {
  const manual = { HealthCheck: 'manual' };

  test('set by hand completes a deployment', async () => {
    rollout.fate = () => 'running';
    await rollout.register('0', manual);
    await rollout.pass(2 * second);
    const [first, ...others] = (await rollout.of(0)).map(({ ID }) => ID);
    const answer = await rollout.act('allocation-health', { HealthyAllocationIDs: [first] });
    expect(answer).toMatchObject({ status: 200, json: { EvalID: expect.stringMatching(uuid) } });
    expect((await rollout.deployment()).TaskGroups.web).toMatchObject({ HealthyAllocs: 1 });
    const { DeploymentStatus } = (await rollout.of(0)).find(({ ID }) => ID === first)!;
    expect(DeploymentStatus).toMatchObject({ Healthy: true, Timestamp: '2026-01-01T00:00:02Z' });
    await rollout.act('allocation-health', { HealthyAllocationIDs: [first, ...others] });
    await rollout.pass(2 * second);
    expect(await rollout.deployment()).toMatchObject({
      Status: 'successful',
      TaskGroups: { web: { HealthyAllocs: 3 } },
    });
  });

  test('of an unhealthy allocation fails it at once', async () => {
    const id = await halfway({ ...manual, AutoRevert: true });
    // Version 0 was never reported healthy.
    expect(await rollout.deployments()).toHaveLength(2);
    const [one] = await rollout.of(1);
    const { json } = await rollout.act('allocation-health', {
      DeploymentID: id,
      UnhealthyAllocationIDs: [one!.ID],
    });
    expect(json.RevertedJobVersion).toBe(0);
    expect(await rollout.get(`/v1/deployment/${id}`)).toMatchObject({
      Status: 'failed',
      TaskGroups: { web: { UnhealthyAllocs: 1 } },
      StatusDescription: 'Failed due to unhealthy allocations - rolling back to job version 0',
    });
  });

  test.each<[string, object, string[]]>([
    ['nothing', {}, ['']],
    [
      'an allocation of another deployment',
      { HealthyAllocationIDs: [missing], UnhealthyAllocationIDs: ['x'] },
      ['/HealthyAllocationIDs/0', '/UnhealthyAllocationIDs/0'],
    ],
    ['no list', { HealthyAllocationIDs: 'all' }, ['/HealthyAllocationIDs']],
  ])('that names %s is refused', async (_name, body, pointers) => {
    await halfway();
    const { status, json } = await rollout.act('allocation-health', body);
    expect([status, json.code]).toEqual([400, 'invalid-body']);
    expect(json.errors.map((one: { pointer: string }) => one.pointer)).toEqual(pointers);
    expect((await rollout.deployment()).Status).toBe('running');
  });

  test('with the same allocation as healthy and unhealthy is refused', async () => {
    await halfway();
    const [one] = await rollout.of(1);
    const { status, json } = await rollout.act('allocation-health', {
      HealthyAllocationIDs: [one!.ID],
      UnhealthyAllocationIDs: [one!.ID],
    });
    expect([status, json.errors]).toEqual([
      400,
      [
        {
          pointer: '/UnhealthyAllocationIDs/0',
          message: 'UnhealthyAllocationIDs[0] is among the HealthyAllocationIDs as well',
        },
      ],
    ]);
  });
});

const bodies: Readonly<Record<string, object>> = {
  fail: {},
  pause: { Pause: true },
  promote: { All: true },
  unblock: {},
  'allocation-health': { HealthyAllocationIDs: [missing] },
};
const words = Object.keys(bodies);

test.each(words)('%s of a terminal deployment is refused', async (word) => {
  await rollout.stable();
  const { ID } = await rollout.deployment();
  const { status, json } = await rollout.act(word, bodies[word]);
  expect([status, json.code]).toEqual([400, 'deployment-refused']);
  expect(json.detail).toContain(`The deployment ${ID} cannot be `);
  expect(json.detail).toMatch(/(it is over: its status|its status) is successful/);
});

test('unblock ends a deployment that waits for other regions', async () => {
  await halfway();
  const before = await rollout.deployment();
  // Multiregion deployments are not supported, so no deployment waits for other regions.
  await rollout.api.state.write((transaction) =>
    transaction.table(deployments).put({ ...before, Status: 'blocked' }),
  );
  const { status, json } = await rollout.act('unblock');
  expect([status, json.EvalID]).toEqual([200, '']);
  expect(await rollout.deployment()).toMatchObject({
    Status: 'successful',
    ModifyIndex: json.DeploymentModifyIndex,
  });
});

test('unblock of any other deployment is refused', async () => {
  await halfway();
  const { status, json } = await rollout.act('unblock');
  expect([status, json.detail]).toEqual([
    400,
    expect.stringMatching(/cannot be unblocked: its status is running, and has to be blocked\.$/),
  ]);
});

test.each(words)(
  '%s of an unknown deployment is a 404, and of another id than the path a 400',
  async (word) => {
    const id = await halfway();
    const none = await rollout.api.call('PUT', `/v1/deployment/${word}/${missing}`, {
      body: bodies[word],
    });
    expect([none.status, none.json.code]).toEqual([404, 'deployment-not-found']);
    const other = await rollout.api.call('PUT', `/v1/deployment/${word}/${id}`, {
      body: { ...bodies[word], DeploymentID: missing },
    });
    expect([other.status, other.json.code]).toEqual([400, 'id-mismatch']);
    expect((await rollout.deployment()).Status).toBe('running');
  },
);

test('pause without true or false is refused', async () => {
  await halfway();
  const { status, json } = await rollout.act('pause', {});
  expect([status, json.code]).toEqual([400, 'malformed-request']);
});

test('each action needs submit-job or its own capability', async () => {
  await halfway();
  const fine: Readonly<Record<string, string>> = {
    fail: 'fail-deployment',
    pause: 'pause-deployment',
    promote: 'promote-deployment',
    unblock: 'unblock-deployment',
    'allocation-health': 'set-deployment-health',
  };
  const tokenWith = async (rules: string): Promise<string> => {
    const Name = `p${Math.abs(hash(rules))}`;
    await rollout.api.call('PUT', '/v1/acl/policy', { body: { Name, Rules: rules } });
    const body = { Policies: [{ Name }] };
    return (await rollout.api.call('PUT', '/v1/acl/token', { body })).json.SecretID;
  };
  const read = 'namespace "default" { policy = "read" }';
  const reader = await tokenWith(read);
  const stranger = await tokenWith('namespace "other" { policy = "write" }');
  for (const [word, capability] of Object.entries(fine)) {
    const own = await tokenWith(`namespace "default" { capabilities = ["${capability}"] }`);
    for (const other of words) {
      // A refusal of the content means that the permission was given.
      const body = { DeploymentID: missing, ...bodies[other] };
      const { json } = await rollout.act(other, body, own);
      expect([word, other, json.code]).toEqual([
        word,
        other,
        other === word ? 'id-mismatch' : 'permission-denied',
      ]);
    }
    for (const token of [reader, stranger]) {
      const { status, json } = await rollout.act(word, bodies[word], token);
      expect([status, json.detail]).toEqual([
        403,
        expect.stringContaining(
          `namespace:submit-job on "default" or namespace:${capability} on "default"`,
        ),
      ]);
    }
  }
  const { ID } = await rollout.deployment();
  for (const url of [`/v1/deployment/${ID}`, `/v1/deployment/allocations/${ID}`]) {
    expect((await rollout.api.call('GET', url, { token: reader })).status).toBe(200);
    expect((await rollout.api.call('GET', url, { token: stranger })).status).toBe(403);
  }
  expect((await rollout.api.call('GET', '/v1/deployments', { token: stranger })).status).toBe(403);
  const hidden = await rollout.api.call('GET', '/v1/deployments?namespace=*', { token: stranger });
  expect([hidden.status, hidden.json]).toEqual([200, []]);
});

const hash = (text: string): number =>
  [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);

test('a restarted server completes deployments', async () => {
  const world = new SimulatedWorld(1);
  const disk = new MemoryDisk();
  const first = await startOn(world, disk);
  const { ID: nodeId } = nodeBody().Node;
  await first.call('PUT', '/v1/node/register', nodeBody());
  await first.call('POST', '/v1/jobs', jobBody({}, { Count: 2, Update: { MaxParallel: 1 } }));
  await world.advance(0);
  const list = (await first.call('GET', '/v1/job/web/allocations')).json;
  const healthy = (ID: string) => ({
    ID,
    ClientStatus: 'running',
    DeploymentStatus: { Healthy: true },
  });
  const Allocations = list.map((one: { ID: string }) => healthy(one.ID));
  await first.call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
  // Before the second is over in which health reports are collected.
  first.server.stop();
  await first.state.close();
  const second = await startOn(world, disk);
  await world.advance(0);
  expect((await second.call('GET', '/v1/job/web/deployment')).json).toMatchObject({
    Status: 'successful',
    TaskGroups: { web: { HealthyAllocs: 2 } },
  });
  expect((await second.call('GET', '/v1/job/web')).json.Stable).toBe(true);
});

test('repeated, late and foreign reports of nodes are counted at most once', async () => {
  rollout.fate = () => 'silent';
  await rollout.register('0');
  const { ID: nodeId } = nodeBody().Node;
  const [one] = await rollout.of(0);
  const report = (fields: object) =>
    rollout.api.call('PUT', `/v1/node/${nodeId}/status`, {
      body: { Allocations: [{ ID: one!.ID, ClientStatus: 'running', ...fields }] },
    });
  const counters = async () => {
    const { HealthyAllocs, UnhealthyAllocs } = (await rollout.deployment()).TaskGroups.web!;
    return [HealthyAllocs, UnhealthyAllocs];
  };
  await report({ DeploymentStatus: { Healthy: true }, DeploymentID: missing });
  expect(await counters()).toEqual([0, 0]);
  const healthy = {
    DeploymentStatus: { Healthy: true, Timestamp: '2999-01-01T00:00:00Z', Canary: true },
  };
  await report(healthy);
  await report(healthy);
  expect(await counters()).toEqual([1, 0]);
  expect((await rollout.of(0)).find(({ ID }) => ID === one!.ID)!.DeploymentStatus).toMatchObject({
    Healthy: true,
    Canary: false,
    Timestamp: '2026-01-01T00:00:00Z',
  });
  await report({ DeploymentStatus: { Healthy: false } });
  await report(healthy);
  expect(await counters()).toEqual([0, 1]);
});

test('reports about an allocation that is being stopped are not counted', async () => {
  rollout.fate = () => 'silent';
  await rollout.register('0');
  const [one] = await rollout.of(0);
  await rollout.api.call('PUT', `/v1/allocation/${one!.ID}/stop`);
  await rollout.api.settle();
  await rollout.api.call('PUT', `/v1/node/${nodeBody().Node.ID}/status`, {
    body: {
      Allocations: [{ ID: one!.ID, ClientStatus: 'running', DeploymentStatus: { Healthy: true } }],
    },
  });
  expect((await rollout.deployment()).TaskGroups.web!.HealthyAllocs).toBe(0);
});

test("the deadline follows the server's clock", async () => {
  rollout.fate = () => 'running';
  await rollout.register('0');
  await rollout.pass(minute);
  rollout.fate = () => 'healthy';
  await rollout.obey();
  expect((await rollout.deployment()).TaskGroups.web!.RequireProgressBy).toBe(
    '2026-01-01T00:11:00Z',
  );
});

/** What may be asked of a deployment, by whom, and what is refused. */
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

/** Version 1 is on its way and stands still. */
async function halfway(update: object = {}): Promise<string> {
  await rollout.stable(update);
  rollout.fate = (one) => (one.JobVersion === 1 ? 'running' : 'healthy');
  await rollout.register('1', update);
  await rollout.pass(2 * second);
  return (await rollout.deployment()).ID;
}

describe('fail', () => {
  test('ends it, and goes back where any group wants that', async () => {
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
      ...{ Status: 'failed', ModifyIndex: json.Index },
      StatusDescription: 'Deployment marked as failed - rolling back to job version 0',
    });
    await rollout.pass(10 * second);
    expect(await rollout.deployment()).toMatchObject({ JobVersion: 2, Status: 'successful' });
    expect(await rollout.of(1)).toEqual([]);
  });

  test('ends it, and nothing more where nothing is to go back', async () => {
    const id = await halfway();
    const { json } = await rollout.act('fail', { DeploymentID: id });
    expect(json.RevertedJobVersion).toBeNull();
    await rollout.pass(10 * second);
    expect(await rollout.deployment()).toMatchObject({
      ...{ ID: id, Status: 'failed', StatusDescription: 'Deployment marked as failed' },
    });
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Version: 1 });
  });
});

describe('allocation-health', () => {
  const manual = { HealthCheck: 'manual' };

  test('by hand takes a deployment all the way', async () => {
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

  test('of one that is unhealthy fails it at once', async () => {
    const id = await halfway({ ...manual, AutoRevert: true });
    // Nobody said that version 0 is healthy.
    expect(await rollout.deployments()).toHaveLength(2);
    const [one] = await rollout.of(1);
    const { json } = await rollout.act('allocation-health', {
      DeploymentID: id,
      UnhealthyAllocationIDs: [one!.ID],
    });
    expect(json.RevertedJobVersion).toBe(0);
    expect(await rollout.get(`/v1/deployment/${id}`)).toMatchObject({
      ...{ Status: 'failed', TaskGroups: { web: { UnhealthyAllocs: 1 } } },
      StatusDescription: 'Failed due to unhealthy allocations - rolling back to job version 0',
    });
  });

  test.each<[string, object, string[]]>([
    ['nothing', {}, ['']],
    [
      'what is none of its allocations',
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

  test('that says both of one is refused', async () => {
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

test.each(words)('%s of a deployment that is over is refused', async (word) => {
  await rollout.stable();
  const { ID } = await rollout.deployment();
  const { status, json } = await rollout.act(word, bodies[word]);
  expect([status, json.code]).toEqual([400, 'deployment-refused']);
  expect(json.detail).toContain(`The deployment ${ID} cannot be `);
  expect(json.detail).toMatch(/(it is over: its status|its status) is successful/);
});

test('unblock ends one that waits for other regions', async () => {
  await halfway();
  const before = await rollout.deployment();
  // Nothing makes one wait here: jobs of several regions are not rolled out yet.
  await rollout.api.state.write((transaction) =>
    transaction.table(deployments).put({ ...before, Status: 'blocked' }),
  );
  const { status, json } = await rollout.act('unblock');
  expect([status, json.EvalID]).toEqual([200, '']);
  expect(await rollout.deployment()).toMatchObject({
    ...{ Status: 'successful', ModifyIndex: json.DeploymentModifyIndex },
  });
});

test('unblock of one that waits for nobody is refused', async () => {
  await halfway();
  const { status, json } = await rollout.act('unblock');
  expect([status, json.detail]).toEqual([
    400,
    expect.stringMatching(/cannot be unblocked: its status is running, and has to be blocked\.$/),
  ]);
});

test.each(words)('%s of none is 404, of another id than the path 400', async (word) => {
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
});

test('pause must say which it is', async () => {
  await halfway();
  const { status, json } = await rollout.act('pause', {});
  expect([status, json.code]).toEqual([400, 'malformed-request']);
});

test('each action takes submit-job or its own capability, and no other', async () => {
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
      // What is refused for what it says got past the permission.
      const body = { DeploymentID: missing, ...bodies[other] };
      const { json } = await rollout.act(other, body, own);
      expect([word, other, json.code]).toEqual([
        ...[word, other],
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

test('a server that starts again takes deployments to their end', async () => {
  const world = new SimulatedWorld(1);
  const disk = new MemoryDisk();
  const first = await startOn(world, disk);
  const { ID: nodeId } = nodeBody().Node;
  await first.call('PUT', '/v1/node/register', nodeBody());
  await first.call('POST', '/v1/jobs', jobBody({}, { Count: 2, Update: { MaxParallel: 1 } }));
  await world.advance(0);
  const list = (await first.call('GET', '/v1/job/web/allocations')).json;
  const healthy = (ID: string) => ({
    ...{ ID, ClientStatus: 'running', DeploymentStatus: { Healthy: true } },
  });
  const Allocations = list.map((one: { ID: string }) => healthy(one.ID));
  await first.call('PUT', `/v1/node/${nodeId}/status`, { Allocations });
  // Before the second is over in which what turns healthy is gathered.
  first.server.stop();
  await first.state.close();
  const second = await startOn(world, disk);
  await world.advance(0);
  expect((await second.call('GET', '/v1/job/web/deployment')).json).toMatchObject({
    ...{ Status: 'successful', TaskGroups: { web: { HealthyAllocs: 2 } } },
  });
  expect((await second.call('GET', '/v1/job/web')).json.Stable).toBe(true);
});

test('what a node says twice, late or of another deployment is counted once or never', async () => {
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
    ...{ Healthy: true, Canary: false, Timestamp: '2026-01-01T00:00:00Z' },
  });
  await report({ DeploymentStatus: { Healthy: false } });
  await report(healthy);
  expect(await counters()).toEqual([0, 1]);
});

test('what is said of an allocation that is to stop is not counted', async () => {
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

test('the deadline is that of the server, whatever a node says', async () => {
  rollout.fate = () => 'running';
  await rollout.register('0');
  await rollout.pass(minute);
  rollout.fate = () => 'healthy';
  await rollout.obey();
  expect((await rollout.deployment()).TaskGroups.web!.RequireProgressBy).toBe(
    '2026-01-01T00:11:00Z',
  );
});

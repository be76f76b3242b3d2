import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Rollout } from '../support/rollout.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const put = (url: string, body: unknown = {}) => api.call('PUT', url, { body });
const get = async (url: string) => (await api.call('GET', url)).json;

/** Sets the capabilities of the namespace `default`. */
async function allow(Capabilities: object | null, on: TestApi = api): Promise<void> {
  const { status, text } = await on.call('PUT', '/v1/namespace/default', {
    body: { Capabilities },
  });
  expect(status, text).toBe(200);
}

async function register(changes: object = {}, group: object = {}): Promise<void> {
  const { status, text } = await put('/v1/jobs', jobBody(changes, group));
  expect(status, text).toBe(200);
  await api.settle();
}

const changed = () => jobBody({ Priority: 60 });
const batch = { Type: 'batch' };
const periodic = { ...batch, Periodic: { Specs: ['*/5 * * * *'] } };

/** Writes a job from before its namespace was restricted. */
const ways: readonly (readonly [string, object, () => ReturnType<typeof put>])[] = [
  ['a registration', {}, () => put('/v1/jobs', jobBody({ ID: 'other' }))],
  ['a registration of the same job', {}, () => put('/v1/jobs', jobBody())],
  ['an update', {}, () => put('/v1/job/web', changed())],
  ['a plan', {}, () => put('/v1/job/web/plan', changed())],
  ['a revert', {}, () => put('/v1/job/web/revert', { JobID: 'web', JobVersion: 0 })],
  [
    'a scaling',
    batch,
    () => put('/v1/job/web/scale', { Count: 2, Target: { Group: 'web' }, Message: 'm' }),
  ],
  ['a dispatch', { ...batch, ParameterizedJob: {} }, () => put('/v1/job/web/dispatch')],
  ['a launch by hand', periodic, () => put('/v1/job/web/periodic/force')],
];

const restrictions = [
  ['driver', { DisabledTaskDrivers: ['mock'] }, 'has disabled "mock"'],
  ['network', { EnabledNetworkModes: ['bridge', 'none'] }, 'allows only "bridge", "none"'],
] as const;

describe.each(restrictions)('a %s that the namespace does not allow', (what, capabilities, why) => {
  test.each(ways)('is refused at %s', async (_way, changes, write) => {
    await register({ ...changes, Meta: { first: 'yes' } });
    await register(changes);
    await allow(capabilities);
    const before = await get('/v1/jobs');
    const { status, json } = await write();
    expect([status, json.code]).toEqual([400, 'job-not-allowed']);
    const at = what === 'driver' ? '/Driver' : '';
    expect(json.errors).toEqual([
      {
        pointer: `/Job/TaskGroups/0/Tasks/0${at}`,
        message: expect.stringContaining(
          `(task "server" of group "web"): the namespace "default" ${why}`,
        ),
      },
    ]);
    expect(json.detail).toContain('task "server"');
    expect(await get('/v1/jobs')).toEqual(before);
    // The same job is accepted in an unrestricted namespace.
    await allow(null);
    expect((await write()).status).toBe(200);
  });

  test('is refused in a registration with an earlier plan', async () => {
    await register();
    const { json: planned } = await put('/v1/job/web/plan', changed());
    await allow(capabilities);
    const carryOut = () => put('/v1/jobs', { ...changed(), PlanID: planned.PlanID });
    const { json } = await carryOut();
    expect(json.code).toBe('job-not-allowed');
    await allow(null);
    expect((await carryOut()).status).toBe(200);
  });

  test('is a fault at validation', async () => {
    await allow(capabilities);
    const { json } = await put('/v1/validate/job', jobBody());
    expect(json.ValidationErrors).toEqual([expect.stringContaining(why)]);
    expect(json.ValidationErrors[0]).toMatch(/^TaskGroups\[0\]\.Tasks\[0\]/);
  });

  test('is not launched by a schedule, and the job has the reason', async () => {
    await register(periodic);
    await allow(capabilities);
    const children = async () => (await get('/v1/jobs?prefix=web/periodic-')).length;
    await api.world.advance(5 * 60_000);
    expect(await children()).toBe(0);
    const [told, ...more] = await get('/v1/job/web/evaluations');
    expect(more).toEqual([]);
    expect(told).toMatchObject({ Status: 'failed', TriggeredBy: 'periodic-job' });
    expect(told.StatusDescription).toContain(`task "server" of group "web"`);
    expect(told.StatusDescription).toContain(why);
    await allow(null);
    await api.world.advance(5 * 60_000);
    expect(await children()).toBe(1);
  });
});

describe('the capabilities of a namespace', () => {
  const task = (Name: string, more: object) => ({ Name, Driver: 'exec', ...more });
  const docker = (config: object) => ({
    Tasks: [task('t', { Driver: 'docker', Config: { image: 'i', ...config } })],
  });
  const network = (...Modes: string[]) => ({ Networks: Modes.map((Mode) => ({ Mode })) });
  const bare = { Tasks: [task('t', { Config: { command: 'true' } })] };

  test.each<[string, object, object, string[]]>([
    ['nothing said', {}, bare, []],
    ['empty lists', { EnabledTaskDrivers: [], DisabledNetworkModes: [] }, bare, []],
    ['a driver that is enabled', { EnabledTaskDrivers: ['exec'] }, bare, []],
    ['a driver that is not', { EnabledTaskDrivers: ['docker'] }, bare, ['Tasks/0/Driver']],
    [
      'a driver that is both',
      { EnabledTaskDrivers: ['exec'], DisabledTaskDrivers: ['exec'] },
      bare,
      ['Tasks/0/Driver'],
    ],
    [
      'several tasks, all told at once',
      { DisabledTaskDrivers: ['raw_exec'], DisabledNetworkModes: ['host'] },
      { Tasks: [task('a', {}), task('b', { Driver: 'raw_exec' })] },
      ['Tasks/1/Driver', 'Tasks/0', 'Tasks/1'],
    ],
    ['no network block', { DisabledNetworkModes: ['host'] }, bare, ['Tasks/0']],
    ['no network for a process', { EnabledNetworkModes: ['none'] }, network('none'), ['Tasks/0']],
    ['a mode left empty', { DisabledNetworkModes: ['host'] }, network(''), ['Networks/0/Mode']],
    ['a mode that is enabled', { EnabledNetworkModes: ['bridge'] }, network('bridge'), []],
    [
      'a second network',
      { EnabledNetworkModes: ['bridge'] },
      network('bridge', 'cni/lan'),
      ['Networks/1/Mode'],
    ],
    [
      'a network of a task',
      { EnabledNetworkModes: ['bridge'] },
      { ...network('bridge'), Tasks: [task('t', { Resources: { Networks: [{ Mode: 'host' }] } })] },
      ['Tasks/0/Resources/Networks/0/Mode'],
    ],
    ['a container as it is', { DisabledNetworkModes: ['host'] }, docker({}), []],
    [
      'a container in the network of the host',
      { DisabledNetworkModes: ['host'] },
      docker({ network_mode: 'host' }),
      ['Tasks/0/Config/network_mode'],
    ],
    [
      'a container in the default network',
      { DisabledNetworkModes: ['bridge'] },
      docker({ network_mode: 'default' }),
      ['Tasks/0/Config/network_mode'],
    ],
    [
      'a container in the network of another',
      { DisabledNetworkModes: ['host'] },
      docker({ network_mode: 'container:x' }),
      ['Tasks/0/Config/network_mode'],
    ],
    [
      'a container in a network that the node fills in',
      { DisabledNetworkModes: ['host'] },
      docker({ network_mode: `\${meta.mode}` }),
      ['Tasks/0/Config/network_mode'],
    ],
  ])('%s', async (_title, capabilities, group, refused) => {
    await allow(capabilities);
    const { status, json } = await put('/v1/jobs', jobBody({}, group));
    const pointers = (json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).toEqual(refused.map((path) => `/Job/TaskGroups/0/${path}`));
    expect(status).toBe(refused.length === 0 ? 200 : 400);
  });

  test('apply to that namespace only', async () => {
    await put('/v1/namespace', { Name: 'red', Capabilities: { DisabledTaskDrivers: ['mock'] } });
    expect((await put('/v1/jobs', jobBody())).status).toBe(200);
    expect((await put('/v1/jobs?namespace=red', jobBody())).json.code).toBe('job-not-allowed');
  });

  test('apply to a registration committed at the same time', async () => {
    const [, answer] = await Promise.all([
      allow({ DisabledTaskDrivers: ['mock'] }),
      put('/v1/jobs', jobBody()),
    ]);
    expect(answer.json.code).toBe('job-not-allowed');
  });

  test('do not stop running allocations', async () => {
    const rollout = await Rollout.start();
    await rollout.stable();
    await allow({ DisabledTaskDrivers: ['mock'] }, rollout.api);
    await rollout.pass(2000);
    expect(await rollout.of(0)).toHaveLength(3);
    expect((await rollout.api.call('DELETE', '/v1/job/web')).status).toBe(200);
    await rollout.pass(2000);
    expect(await rollout.of(0)).toEqual([]);
  });

  test('prevent the rollback of a failed deployment', async () => {
    const rollout = await Rollout.start();
    await rollout.stable({ AutoRevert: true });
    rollout.fate = ({ JobVersion }) => (JobVersion === 0 ? 'healthy' : 'unhealthy');
    await rollout.register('1', { AutoRevert: true });
    await allow({ DisabledTaskDrivers: ['mock'] }, rollout.api);
    await rollout.pass(4000);
    expect(await rollout.deployment()).toMatchObject({
      Status: 'failed',
      StatusDescription: expect.stringContaining(
        'not rolling back to stable job version 0: its namespace does not allow that any more',
      ),
    });
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Version: 1 });
  });
});

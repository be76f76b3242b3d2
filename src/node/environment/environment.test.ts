// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the notation under test
import { describe, expect, test } from 'vitest';
import { complete } from '../../model/complete.ts';
import { NodeRegistrationSchema } from '../../model/node/node.ts';
import type { Input } from '../../model/schema.ts';
import type { Task } from '../../model/task/task.ts';
import { ownVariables, passedVariables } from '../../model/task/task-variables.ts';
import { TaskGroupSchema } from '../../model/task-group/task-group.ts';
import { allocationDirectories, taskDirectories } from '../directories.ts';
import type { DriverCapabilities } from '../drivers/driver.ts';
import { testAllocation, testJob } from '../records.test-helper.ts';
import { taskEnvironment } from './environment.ts';
import { hostEnvironment } from './host-environment.ts';
import { interpolate, interpolateDeep } from './interpolate.ts';

const node = complete(NodeRegistrationSchema, {
  ID: 'n1',
  Name: 'alpha',
  Attributes: { 'roster.runtime': '/opt/node', 'cpu.arch': 'amd64' },
  Meta: { rack: 'r1' },
});

function environmentOf(
  task: Input<Task> = {},
  isolation: DriverCapabilities['fileSystemIsolation'] = 'none',
) {
  const job = testJob([{ Name: 'http', Meta: { 'my-key': 'task' }, ...task }], {
    ID: 'web',
    Name: 'Web',
    Meta: { 'my-key': 'job', other: 'job' },
    ParameterizedJob: { MetaOptional: ['absent'] },
  });
  const allocation = testAllocation({
    AllocatedResources: {
      Tasks: { http: { Cpu: { CpuShares: 250 }, Memory: { MemoryMB: 64 } } },
      Shared: {
        Ports: [
          { Label: 'http', Value: 21000, To: 0, HostIP: '10.0.0.5' },
          { Label: 'admin-ui', Value: 21001, To: 8080, HostIP: '10.0.0.5' },
          { Label: 'six', Value: 21002, To: -1, HostIP: 'fd00::1' },
        ],
      },
    },
  });
  const labels = ['http', 'admin-ui', 'six'].map((Label) => ({ Label, Value: 0, To: 0 }));
  const group = complete(TaskGroupSchema, {
    ...job.TaskGroups[0]!,
    Networks: [{ DynamicPorts: labels }],
  });
  const environment = taskEnvironment({
    node,
    region: 'global',
    allocation,
    job,
    group,
    task: group.Tasks[0]!,
    directories: taskDirectories(allocationDirectories('/data', allocation.ID), 'http'),
    host: { PATH: '/bin', HOME: '/home/agent', LANG: 'C', ROSTER_JOB_ID: 'never' },
    isolation,
    added: {},
  });
  return { ...environment, job, group, task: group.Tasks[0]! };
}

describe('the variables of a task', () => {
  test.each([
    ['ROSTER_ALLOC_ID', 'a1111111-0000-4000-8000-000000000001'],
    ['ROSTER_SHORT_ALLOC_ID', 'a1111111'],
    ['ROSTER_ALLOC_NAME', 'web.servers[2]'],
    ['ROSTER_ALLOC_INDEX', '2'],
    ['ROSTER_TASK_NAME', 'http'],
    ['ROSTER_GROUP_NAME', 'servers'],
    ['ROSTER_JOB_ID', 'web'],
    ['ROSTER_JOB_NAME', 'Web'],
    ['ROSTER_JOB_PARENT_ID', undefined],
    ['ROSTER_NAMESPACE', 'default'],
    ['ROSTER_DC', 'dc1'],
    ['ROSTER_REGION', 'global'],
    ['ROSTER_CPU_LIMIT', '250'],
    ['ROSTER_MEMORY_LIMIT', '64'],
    ['ROSTER_ALLOC_DIR', '/data/alloc/a1111111-0000-4000-8000-000000000001/alloc'],
    ['ROSTER_TASK_DIR', '/data/alloc/a1111111-0000-4000-8000-000000000001/http/local'],
    ['ROSTER_SECRETS_DIR', '/data/alloc/a1111111-0000-4000-8000-000000000001/http/secrets'],
    ['ROSTER_PORT_http', '21000'],
    ['ROSTER_ADDR_http', '10.0.0.5:21000'],
    ['ROSTER_PORT_admin_ui', '8080'],
    ['ROSTER_HOST_PORT_admin_ui', '21001'],
    ['ROSTER_ADDR_admin_ui', '10.0.0.5:21001'],
    ['ROSTER_PORT_six', '21002'],
    ['ROSTER_ADDR_six', '[fd00::1]:21002'],
    ['ROSTER_META_my_key', 'task'],
    ['ROSTER_META_MY_KEY', 'task'],
    ['ROSTER_META_OTHER', 'job'],
    ['ROSTER_META_absent', ''],
    ['PATH', '/bin'],
  ])('%s is %j', (name, value) => {
    expect(environmentOf().variables[name]).toBe(value);
  });

  test('of the task itself win, with references resolved', () => {
    const { variables } = environmentOf({
      Env: { PATH: '/own:${PATH}', URL: 'http://${ROSTER_ADDR_http}/', RACK: '${meta.rack}' },
    });
    expect(variables).toMatchObject({
      PATH: '/own:/bin',
      URL: 'http://10.0.0.5:21000/',
      RACK: 'r1',
    });
  });
});

test('the names of a task’s variables follow from its job alone', () => {
  const { variables, job, group, task } = environmentOf();
  const own = ownVariables(job, group, task);
  const made = Object.keys(variables).filter((name) => !passedVariables.includes(name));
  expect(made.filter((name) => !own.has(name))).toEqual([]);
});

describe('interpolation', () => {
  const { lookup } = environmentOf({ Env: { COLOR: 'blue' } });
  test.each([
    ['${attr.roster.runtime}', '/opt/node'],
    ['${node.unique.name} in ${node.datacenter}', 'alpha in dc1'],
    ['${meta.rack}', 'r1'],
    ['${ROSTER_PORT_http}', '21000'],
    ['${COLOR}', 'blue'],
    ['${env["COLOR"]} ${env["UNKNOWN"]} ${env[COLOR]}', 'blue ${env["UNKNOWN"]} ${env[COLOR]}'],
    ['${UNKNOWN} $HOME ${not closed', '${UNKNOWN} $HOME ${not closed'],
    ['${attr.constructor}${__proto__}${toString}', '${attr.constructor}${__proto__}${toString}'],
  ])('%s', (text, expected) => {
    expect(interpolate(text, lookup)).toBe(expected);
  });

  test('reaches every text at any depth and nothing else', () => {
    const value = { args: ['${meta.rack}', { deep: '${COLOR}' }], count: 3, none: null };
    expect(interpolateDeep(value, lookup)).toEqual({
      args: ['r1', { deep: 'blue' }],
      count: 3,
      none: null,
    });
  });
});

test.each([
  ['none', { PATH: '/bin', HOME: '/home/agent', LANG: 'C' }],
  ['chroot', { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C' }],
  ['image', {}],
] as const)('with isolation %s the host passes what means something there', (isolation, passed) => {
  const { variables } = environmentOf({}, isolation);
  const names = ['PATH', 'HOME', 'LANG'].filter((name) => Object.hasOwn(variables, name));
  expect(Object.fromEntries(names.map((name) => [name, variables[name]]))).toEqual(passed);
});

test('the host passes the variables that programs need, and none of the agent’s own', () => {
  const agent = {
    PATH: '/bin',
    HOME: '/root',
    LC_ALL: 'C',
    ROSTER_TOKEN: 'secret',
    ROSTER_ROOT_TOKEN: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    TZ: undefined,
  };
  expect(hostEnvironment(agent)).toEqual({ PATH: '/bin', HOME: '/root', LC_ALL: 'C' });
  expect(hostEnvironment({}).PATH).toContain('/usr/bin');
});

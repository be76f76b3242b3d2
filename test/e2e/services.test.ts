/** Services with checks on real HTTP servers, under a real agent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CheckResult } from '../../src/model/check-result/check-result.ts';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { type Agent, endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import { type Allocation, eventTypes, httpPort, job, node } from '../support/jobs.ts';

let agent: Agent;
const dataDirectory = newDirectory();
beforeAll(async () => {
  agent = await startAgent({ dataDirectory });
});
afterAll(endAgents);

/** The timeout is long, so that a busy machine changes no result. */
const check = { Type: 'http', Path: '/health', Interval: '1s', Timeout: '20s' };

/** A web server whose script answers the check. */
const web = (id: string, answer: string, group: object = {}, changes: object = {}) =>
  job(id, {
    group: {
      Networks: httpPort,
      ShutdownDelay: '100ms',
      RestartPolicy: { Attempts: 2, Delay: '100ms', Interval: '1m', Mode: 'fail' },
      Services: [{ Name: id, PortLabel: 'http', Checks: [check], Tags: ['v-${ROSTER_META_v}'] }],
      ...group,
    },
    task: {
      ...node(`
        const { existsSync, writeFileSync } = require('node:fs');
        const mark = process.env.ROSTER_ALLOC_DIR + '/data/mark';
        const isSecond = existsSync(mark);
        writeFileSync(mark, '');
        require('node:http')
          .createServer((request, response) => { ${answer} })
          .listen(Number(process.env.ROSTER_PORT_http), '127.0.0.1');
      `),
      KillTimeout: '1s',
      ...changes,
    },
  });

const instancesUntil = (name: string, look: (all: readonly ServiceRegistration[]) => void) =>
  agent.until(`/v1/service/${name}`, (all: ServiceRegistration[]) => {
    look(all);
    return all;
  });
const statuses = (all: readonly ServiceRegistration[]) => all.map(({ Status }) => Status);
const allocationsOf = (id: string): Promise<Allocation[]> => agent.get(`/v1/job/${id}/allocations`);
const checksOf = async ({ ID }: Pick<Allocation, 'ID'>): Promise<CheckResult[]> =>
  Object.values(await agent.get(`/v1/client/allocation/${ID}/checks`));
const deploymentUntil = (id: string, fields: object) =>
  agent.until(`/v1/job/${id}/deployment`, (deployment) => expect(deployment).toMatchObject(fields));

const update = {
  MaxParallel: 1,
  HealthCheck: 'checks',
  MinHealthyTime: '100ms',
  HealthyDeadline: '1m',
  ProgressDeadline: 0,
  AutoRevert: true,
};
/**
 * The progress deadline of the failing version. It has to start and answer its check within this
 * time.
 */
const deadline = '8s';
const rolling = (v: string, status: number, changes: object = {}) =>
  web(
    'shop',
    `response.writeHead(${status}).end('I am ${v}');`,
    { Count: 2, Update: { ...update, ...changes }, Meta: { v } },
    { Env: { v } },
  );

test('a version with a failing check is rolled back, and the service continues', async () => {
  await agent.register(rolling('1', 200));
  await deploymentUntil('shop', { JobVersion: 0, Status: 'successful' });
  const before = await instancesUntil('shop', (all) => {
    expect(statuses(all)).toEqual(['passing', 'passing']);
  });
  for (const { Address, Port, Tags } of before) {
    expect(Tags).toEqual(['v-1']);
    expect(await (await fetch(`http://${Address}:${Port}/`)).text()).toBe('I am 1');
  }
  await agent.register(rolling('2', 500, { HealthyDeadline: deadline }));
  await instancesUntil('shop', (all) => {
    expect(all).toContainEqual(expect.objectContaining({ Tags: ['v-2'], Status: 'critical' }));
    expect(statuses(all)).toContain('passing');
  });
  const failing = (await allocationsOf('shop')).find(({ JobVersion }) => JobVersion === 1)!;
  // A check that cannot connect yet is critical as well.
  const hasAnswered = async () =>
    expect(await checksOf(failing)).toMatchObject([
      {
        Status: 'critical',
        StatusCode: 500,
        Mode: 'healthiness',
        Output: 'GET /health: 500 I am 2',
      },
    ]);
  await eventually(hasAnswered);
  const counted = await agent.request('GET', `/v1/client/metrics?node_id=${failing.NodeID}`);
  expect(counted.text).toMatch(
    new RegExp(
      `^roster_service_checks\\{.*job_id="shop".*service="shop",alloc_id="${failing.ID}",status="critical"\\} 1$`,
      'm',
    ),
  );
  const shown = await agent.cli('alloc', 'checks', failing.ID);
  expect(shown.stdout).toMatch(/shop +- +service: "shop" check +healthiness +critical/);

  await deploymentUntil('shop', { JobVersion: 2, Status: 'successful' });
  const all = await instancesUntil('shop', (some) => {
    expect(some.map(({ Tags, Status }) => [Tags, Status])).toEqual([
      [['v-1'], 'passing'],
      [['v-1'], 'passing'],
    ]);
  });
  // At least one instance of the first version was never replaced.
  expect(all.map(({ ID }) => ID)).toContainEqual(expect.toBeOneOf(before.map(({ ID }) => ID)));
  const ended = (await allocationsOf('shop')).find(({ ID }) => ID === failing.ID)!;
  const unhealthy = ended.TaskStates!.task!.Events!.find(({ Type }) => Type === 'Alloc Unhealthy');
  expect(unhealthy?.DisplayMessage).toBe(
    `Check "service: "shop" check" of the service "shop" not passing by the healthy_deadline of ${deadline}`,
  );
  const deployments: { JobVersion: number; Status: string; StatusDescription: string }[] =
    await agent.get('/v1/job/shop/deployments');
  expect(deployments.find(({ JobVersion }) => JobVersion === 1)).toMatchObject({
    Status: 'failed',
    StatusDescription: expect.stringContaining('rolling back to job version 0'),
  });
});

test('a task with a failing check is restarted', async () => {
  // The second process has the same number of seconds to listen before it is restarted.
  const CheckRestart = { Limit: 5, Grace: '0s' };
  const answer = `response.writeHead(isSecond ? 200 : 500).end();`;
  const Services = [{ Name: 'ill', PortLabel: 'http', Checks: [check], CheckRestart }];
  await agent.register(web('ill', answer, { Services }));
  await instancesUntil('ill', (all) => expect(statuses(all)).toEqual(['critical']));
  await instancesUntil('ill', (all) => expect(statuses(all)).toEqual(['passing']));
  const [allocation] = await allocationsOf('ill');
  expect(allocation!.TaskStates!.task).toMatchObject({ State: 'running', Restarts: 1 });
  expect(eventTypes(allocation!)).toEqual(
    expect.arrayContaining(['Restart Signaled', 'Terminated', 'Restarting']),
  );
});

test('a check of a silent server is critical and delays no other check', async () => {
  const Checks = [{ ...check, Timeout: '1s' }];
  const Services = [{ Name: 'stuck', PortLabel: 'http', Checks }];
  await agent.register(web('stuck', '', { Services }));
  await agent.register(web('fine', "response.end('ok');"));
  await instancesUntil('fine', (all) => expect(statuses(all)).toEqual(['passing']));
  await instancesUntil('stuck', (all) => expect(statuses(all)).toEqual(['critical']));
  const [allocation] = await allocationsOf('stuck');
  const isCut = async () =>
    expect(await checksOf(allocation!)).toMatchObject([{ Output: 'no answer within 1s' }]);
  await eventually(isCut);
});

test('commands list services and remove stale instances', async () => {
  const listed = await agent.cli('service', 'list');
  expect(listed.stdout).toMatch(/^fine +v-\$\{ROSTER_META_v\}$/m);
  const [instance] = await agent.get('/v1/service/fine');
  const info = await agent.cli('service', 'info', 'fine');
  expect(info.stdout).toMatch(new RegExp(`^passing +127.0.0.1:${instance.Port} `, 'm'));
  const filtered = await agent.cli('service', 'info', 'fine', '-filter', 'Status == "critical"');
  expect(filtered.stdout).toBe('No instance of "fine" fits the filter.\n');
  const none = await agent.cli('service', 'info', 'none');
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no service "none"')]);
  for (const words of [
    ['job', 'status', 'fine'],
    ['alloc', 'status', instance.AllocID],
  ]) {
    expect((await agent.cli(...words)).stdout).toMatch(/^fine +passing +127\.0\.0\.1:\d+ /m);
  }
  const chosen = await agent.cli('service', 'info', 'shop', '-choose', '1|me', '-json');
  expect(JSON.parse(chosen.stdout)).toHaveLength(1);
  expect((await agent.cli('service', 'delete', 'fine', instance.ID)).code).toBe(0);
  expect(await agent.get('/v1/service/fine')).toEqual([]);
  expect((await agent.cli('service', 'delete', 'fine', instance.ID)).code).toBe(1);
});

test("services survive the agent's death, and the next agent continues the checks", {
  timeout: 180_000,
}, async () => {
  const before: ServiceRegistration[] = await agent.get('/v1/service/shop');
  await agent.stop('SIGKILL');
  agent = await startAgent({ dataDirectory });
  expect(await agent.get('/v1/service/shop')).toEqual(before);
  const isDoneAgain = async () => {
    for (const { AllocID } of before) {
      const [result] = await checksOf({ ID: AllocID });
      expect(result).toMatchObject({ Status: 'passing' });
    }
  };
  await eventually(isDoneAgain);
  expect(await agent.get('/v1/service/shop')).toEqual(before);
  // The instance that was removed by hand is back with the node's report.
  await instancesUntil('fine', (all) => expect(statuses(all)).toEqual(['passing']));
});

test('a service is removed with its job', async () => {
  await agent.request('DELETE', '/v1/job/shop');
  await instancesUntil('shop', (all) => expect(all).toEqual([]));
});

import { describe, expect, test } from 'vitest';
import { indexed, problem } from '../../sdk/server.test-helper.ts';
import {
  allocation,
  deployment,
  deploymentGroup,
  evaluation,
  ids,
  job,
  metrics,
  second,
} from '../fixtures.test-helper.ts';
import { run } from '../harness.test-helper.ts';

const path = `GET /v1/deployment/${ids.deployment}`;
const short = ids.deployment.slice(0, 8);
const members = {
  [`GET /v1/deployment/allocations/${ids.deployment}`]: {
    json: [
      allocation({ ...second, DeploymentStatus: null }),
      allocation({
        DeploymentStatus: { Healthy: true, Canary: true, Timestamp: null, ModifyIndex: 0 },
      }),
    ],
  },
};
const changed = {
  EvalID: ids.evaluation,
  EvalCreateIndex: 20,
  DeploymentModifyIndex: 20,
  Index: 20,
  RevertedJobVersion: null as number | null,
};
const decided = { [`GET /v1/evaluation/${ids.evaluation}`]: indexed(21, evaluation()) };

test('list shows the newest first', async () => {
  const older = deployment({
    ID: ids.blocked,
    CreateIndex: 3,
    JobVersion: 1,
    Status: 'failed',
    StatusDescription: 'Failed due to progress deadline',
  });
  const server = { 'GET /v1/deployments': { json: [older, deployment()] } };
  const { stdout, exitCode, seen } = await run(
    ['deployment', 'list', '-filter', 'JobID == "web"'],
    { server },
  );
  expect(exitCode).toBe(0);
  expect(seen[0]!.query).toEqual({ filter: 'JobID == "web"' });
  expect(stdout).toBe(`ID        Job  Version  Status   Created   What
d1d1d1d1  web  2        running  1m6s ago  Deployment is running
b1b1b1b1  web  1        failed   1m6s ago  Failed due to progress deadline
`);
  const everywhere = await run(['deployment', 'list', '-namespace', '*'], { server });
  expect(everywhere.stdout).toContain('web  default    2');
  const json = await run(['deployment', 'list', '-json'], { server });
  expect(JSON.parse(json.stdout)).toHaveLength(2);
  const none = { 'GET /v1/deployments': { json: [] } };
  expect((await run(['deployment', 'list'], { server: none })).stdout).toBe(
    'There are no such deployments.\n',
  );
});

test('status shows the groups and their allocations', async () => {
  const server = { [path]: { json: deployment() }, ...members };
  const { stdout, exitCode } = await run(['deployment', 'status', ids.deployment], { server });
  expect(exitCode).toBe(0);
  expect(stdout).toBe(`ID         ${ids.deployment}
Job        web (version 2)
Namespace  default
Status     running (Deployment is running)
Created    1m6s ago
Changed    5s ago

Deployed
Group  Canaries  Promoted  Desired  Placed  Healthy  Unhealthy  Reverts  Deadline
front  -         -         2        1       0        0          yes      5m10s left

Allocations
ID        Name          Node  Desired  Status   Health            Changed
a0a0a0a0  web.front[0]  one   run      running  healthy (canary)  1m ago
a1a1a1a1  web.front[1]  one   run      running  -                 1m ago
`);
  const json = await run(['deployment', 'status', '-json', ids.deployment], { server });
  expect(Object.keys(JSON.parse(json.stdout))).toEqual(['Deployment', 'Allocations']);
});

describe('status -monitor', () => {
  const waiting = { DesiredCanaries: 1, PlacedCanaries: [ids.first], PlacedAllocs: 1 };
  const needs = { StatusDescription: 'Deployment is running but requires manual promotion' };

  test('prints each change once, and the manual step', async () => {
    const { stdout, exitCode } = await run(['deployment', 'status', '-monitor', ids.deployment], {
      server: {
        ...members,
        [path]: [
          indexed(13, deployment(needs, waiting)),
          indexed(13, deployment(needs, waiting)),
          indexed(14, deployment(needs, { ...waiting, HealthyAllocs: 1 })),
          indexed(15, deployment({}, { ...waiting, HealthyAllocs: 1, Promoted: true })),
          indexed(16, deployment({ Status: 'successful', StatusDescription: 'done' })),
        ],
      },
    });
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').slice(0, 9)).toEqual([
      'Deployment d1d1d1d1 of version 2 is running: Deployment is running but requires manual promotion',
      '  front: 1 of 1 canaries, 1 of 2 placed, 0 healthy, 0 unhealthy',
      '  front: 1 of 1 canaries, 1 of 2 placed, 1 healthy, 0 unhealthy',
      'Its canaries are healthy: "roster deployment promote d1d1d1d1" puts the rest in their place.',
      'Deployment d1d1d1d1 of version 2 is running: Deployment is running',
      '  front: 1 of 2 placed, 1 healthy, 0 unhealthy',
      'Deployment d1d1d1d1 of version 2 is successful: done',
      '  front: 1 of 2 placed, 0 healthy, 0 unhealthy',
      '',
    ]);
  });

  test.each([
    ['successful', 0],
    ['cancelled', 1],
    ['failed', 2],
  ] as const)('of a %s deployment exits with %i', async (Status, exitCode) => {
    const server = { [path]: { json: deployment({ Status }) }, ...members };
    const ran = await run(['deployment', 'status', '-monitor', ids.deployment], { server });
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stdout).toMatch(/^ID /);
  });

  test('ends with Ctrl-C', async () => {
    const ran = await run(['deployment', 'status', '-monitor', ids.deployment], {
      server: {
        [path]: [indexed(13, deployment()), indexed(13, deployment())],
        ...members,
      },
      onOutput: (text, interrupt) => {
        if (text.includes('placed')) interrupt();
      },
    });
    expect(ran.exitCode).toBe(130);
  });
});

describe('an action', () => {
  const listed = { 'GET /v1/deployments': { json: [deployment()] } };
  test.each([
    ['pause', 'pause', { Pause: true }, 'is paused'],
    ['resume', 'pause', { Pause: false }, 'goes on'],
    ['fail', 'fail', {}, 'is marked as failed'],
    ['unblock', 'unblock', {}, 'no longer waits for other regions'],
    ['promote', 'promote', { All: true }, 'is promoted'],
  ])('%s is sent and told', async (command, word, body, done) => {
    const route = `PUT /v1/deployment/${word}/${ids.deployment}`;
    const server = { ...listed, [route]: { json: changed }, ...decided };
    const { exitCode, stdout, seen } = await run(['deployment', command, short], { server });
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `Deployment d1d1d1d1 ${done}.\nSee "roster deployment status -monitor d1d1d1d1".\n`,
    });
    expect(seen[1]!.body).toEqual({ DeploymentID: ids.deployment, ...body });
    const detached = await run(['deployment', command, '-detach', '-json', short], { server });
    expect(JSON.parse(detached.stdout)).toEqual(changed);
    expect(detached.seen).toHaveLength(2);
  });

  test('fail says to which version the job is reverted', async () => {
    const json = { ...changed, RevertedJobVersion: 1 };
    const route = `PUT /v1/deployment/fail/${ids.deployment}`;
    const server = { ...listed, [route]: { json }, ...decided };
    const { stdout } = await run(['deployment', 'fail', short], { server });
    expect(stdout).toContain('The job goes back to what version 1 was.\n');
  });

  test('promote takes groups, and exits with 2 if something has no room', async () => {
    const full = evaluation({ FailedTGAllocs: { front: metrics() } });
    const { exitCode, stdout, seen } = await run(
      ['deployment', 'promote', '-group', 'front', '-group', 'back', short],
      {
        server: {
          ...listed,
          [`PUT /v1/deployment/promote/${ids.deployment}`]: { json: changed },
          [`GET /v1/evaluation/${ids.evaluation}`]: indexed(21, full),
        },
      },
    );
    expect(seen[1]!.body).toEqual({ DeploymentID: ids.deployment, Groups: ['front', 'back'] });
    expect(exitCode).toBe(2);
    expect(stdout).toContain('Group "front": 1 allocation could not be placed');
  });

  test('that is refused gives the reason', async () => {
    const detail = 'The deployment d1 cannot be promoted: no group of it has canaries.';
    const route = `PUT /v1/deployment/promote/${ids.deployment}`;
    const server = { ...listed, [route]: problem(400, 'deployment-refused', detail) };
    expect(await run(['deployment', 'promote', short], { server })).toMatchObject({
      exitCode: 1,
      stderr: `Error: ${detail}\n`,
    });
  });
});

describe('by job', () => {
  test('promote takes the latest deployment', async () => {
    const server = {
      'GET /v1/job/web/deployment': { json: deployment() },
      [`PUT /v1/deployment/promote/${ids.deployment}`]: { json: changed },
      ...decided,
    };
    const { exitCode, stdout } = await run(['job', 'promote', 'web'], { server });
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining('Deployment d1d1d1d1 is promoted.'),
    ]);
  });

  test('promote reports a missing deployment', async () => {
    const server = { 'GET /v1/job/web/deployment': { json: null } };
    expect(await run(['job', 'promote', 'web'], { server })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The job "web" has no deployment.'),
    });
  });

  test('deployments lists them, or shows the latest', async () => {
    const server = {
      'GET /v1/job/web': { json: job() },
      'GET /v1/job/web/deployments': { json: [deployment()] },
      'GET /v1/job/web/deployment': {
        json: deployment({ TaskGroups: { front: deploymentGroup({ AutoRevert: false }) } }),
      },
    };
    const list = await run(['job', 'deployments', '-all', 'web'], { server });
    expect(list.stdout).toContain('d1d1d1d1  web  2        running');
    expect(list.seen[0]!.query).toEqual({ all: 'true' });
    const latest = await run(['job', 'deployments', '-latest', 'web'], { server });
    expect(latest.stdout).toContain(`ID         ${ids.deployment}\n`);
    expect(latest.stdout).toContain('0          no       5m10s left');
  });
});

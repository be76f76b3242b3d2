import { expect, test } from 'vitest';
import { indexed, problem } from '../../sdk/server.test-helper.ts';
import {
  allocation,
  deployment,
  evaluation,
  ids,
  job,
  jobStub,
  metrics,
  registered,
  second,
  summary,
} from '../fixtures.test-helper.ts';
import { run } from '../harness.test-helper.ts';

const evaluationPath = `GET /v1/evaluation/${ids.evaluation}`;

const details = {
  'GET /v1/job/web': { json: job() },
  'GET /v1/job/web/summary': { json: summary },
  'GET /v1/job/web/allocations': { json: [allocation(second), allocation()] },
  'GET /v1/job/web/evaluations': {
    json: [
      evaluation({ BlockedEval: ids.blocked, FailedTGAllocs: { front: metrics() } }),
      evaluation({ ID: ids.blocked, Status: 'blocked', TriggeredBy: 'queued-allocs' }),
    ],
  },
  'GET /v1/job/web/deployment': { json: null },
  'GET /v1/job/web/services': { json: [] },
};

test('status lists the jobs', async () => {
  const server = {
    'GET /v1/jobs': { json: [jobStub(), jobStub({ ID: 'old', Status: 'dead', Stop: true })] },
  };
  expect((await run(['job', 'status'], { server })).stdout).toBe(
    `ID   Type     Priority  Status          Running  Submitted
web  service  50        running         2/3      5m10s ago
old  service  50        dead (stopped)  2/3      5m10s ago
`,
  );
  const everywhere = await run(['job', 'status', '-namespace', '*'], { server });
  expect(everywhere.stdout).toContain('web  default    service');
  const json = await run(['job', 'status', '-json'], { server });
  expect(JSON.parse(json.stdout)).toHaveLength(2);
});

test('status of a job shows its groups, its allocations and the groups that wait for room', async () => {
  expect((await run(['job', 'status', 'web'], { server: details })).stdout).toBe(
    `ID           web
Namespace    default
Type         service
Status       running
Priority     50
Datacenters  dc1, dc2
Node pool    default
Version      2
Submitted    5m10s ago

Summary
Group  Queued  Starting  Running  Failed  Complete  Lost  Unknown
front  0       1         2        0       0         0     0

Waiting for room
Group "front": 1 allocation could not be placed
  - 3 nodes were looked at

Allocations
ID        Name          Node  Version  Desired  Status   Changed  Addresses
a0a0a0a0  web.front[0]  one   2        run      running  1m ago   http=127.0.0.1:20123 admin=[::1]:20124
a1a1a1a1  web.front[1]  one   2        run      running  1m ago   http=127.0.0.1:20123 admin=[::1]:20124
`,
  );
  const { stdout } = await run(['job', 'status', '-verbose', 'web'], { server: details });
  expect(stdout).toContain(ids.second);
  expect(stdout).toContain(`${ids.blocked}  50        queued-allocs  blocked   -`);
  const json = await run(['job', 'status', '-json', 'web'], { server: details });
  expect(Object.keys(JSON.parse(json.stdout))).toEqual([
    'Job',
    'Summary',
    'Allocations',
    'Evaluations',
    'Deployment',
    'Services',
    'Warnings',
  ]);
});

test('status warns of names in a stored job that a new job may not have', async () => {
  const tasks = [{ Name: '..', Driver: 'exec' }];
  const odd = job({ TaskGroups: [{ Name: 'a\u001b', Tasks: tasks }] });
  const server = { ...details, 'GET /v1/job/web': { json: odd } };
  const { stdout } = await run(['job', 'status', 'web'], { server });
  const why = 'a job is refused for this now, and this one was stored before';
  expect(stdout).toContain(`
Warning: TaskGroups[0].Name must not hold a control character: ${why}
Warning: TaskGroups[0].Tasks[0].Name must not be "." or "..": ${why}
Warning: TaskGroups[0].Tasks[0] is not started by any node: its name ".." leads elsewhere
`);
});

test('status shows the latest deployment', async () => {
  const canaries = { DesiredCanaries: 1, PlacedCanaries: [ids.first] };
  const server = { ...details, 'GET /v1/job/web/deployment': { json: deployment({}, canaries) } };
  const { stdout } = await run(['job', 'status', 'web'], { server });
  expect(stdout).toContain(`
Latest deployment
ID       d1d1d1d1
Version  2
Status   running (Deployment is running)

Deployed
Group  Canaries  Promoted  Desired  Placed  Healthy  Unhealthy  Reverts  Deadline
front  1/1       no        2        1       0        0          yes      5m10s left
`);
});

test('the error for a missing job suggests jobs whose ids begin alike', async () => {
  const missing = problem(404, 'job-not-found', 'There is no job "we" in "default".');
  const server = { 'GET /v1/job/we': missing, 'DELETE /v1/job/we': missing };
  const alike = { ...server, 'GET /v1/jobs': { json: [jobStub()] } };
  const none = { ...server, 'GET /v1/jobs': { json: [] } };
  for (const command of ['status', 'inspect', 'stop']) {
    expect(await run(['job', command, 'we'], { server: alike })).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: 'Error: There is no job "we" in "default".\nDid you mean "web"?\n',
    });
    expect((await run(['job', command, 'we'], { server: none })).stderr).toContain(
      '"roster job status" lists the jobs; --namespace looks elsewhere.',
    );
  }
});

test('inspect prints a job file', async () => {
  const server = { 'GET /v1/job/team/web': { json: job() } };
  const { stdout, seen } = await run(['job', 'inspect', 'team/web'], { server });
  expect(JSON.parse(stdout)).toEqual({ Job: job() });
  expect(seen[0]!.path).toBe('/v1/job/team%2Fweb');
});

test('stop watches until nothing runs', async () => {
  const { exitCode, stdout, seen } = await run(['job', 'stop', 'web'], {
    server: {
      'DELETE /v1/job/web': { json: registered },
      [evaluationPath]: indexed(13, evaluation({ TriggeredBy: 'job-deregister' })),
      'GET /v1/job/web/allocations': [
        indexed(13, [allocation(), allocation({ ...second, ClientStatus: 'complete' })]),
        indexed(14, [allocation({ ClientStatus: 'complete' })]),
      ],
    },
  });
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: `Job "web" is being stopped.
  web.front[0]  a0a0a0a0  complete
Nothing of it runs any more.
`,
  });
  expect(seen[0]!.query).toEqual({});
});

test('stop -purge waits until everything has ended, and -detach does not wait', async () => {
  const server = {
    'DELETE /v1/job/web': { json: registered },
    [evaluationPath]: indexed(13, evaluation()),
    'GET /v1/allocations': [
      indexed(13, [allocation({ DesiredStatus: 'stop', ClientStatus: 'running' })]),
      indexed(14, [allocation({ DesiredStatus: 'stop', ClientStatus: 'complete' })]),
    ],
  };
  const purged = await run(['job', 'stop', '-purge', '-no-shutdown-delay', 'web'], { server });
  expect(purged).toMatchObject({
    exitCode: 0,
    stdout: `Job "web" is being purged.
  web.front[0]  a0a0a0a0  complete
Nothing of it runs any more.
`,
  });
  expect(purged.seen[0]!.query).toEqual({ purge: 'true', no_shutdown_delay: 'true' });
  const detached = await run(['job', 'stop', '-detach', 'web'], { server });
  expect(detached.seen).toHaveLength(1);
});

/** Deployments of real processes: rolling updates, canaries and rollbacks. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Agent,
  endAgents,
  eventually,
  type HttpAnswer,
  newDirectory,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, byName, eventTypes, job, shell } from '../support/jobs.ts';

// Deployments are slow, and a test has several of them.
vi.setConfig({ testTimeout: 90_000 });

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(endAgents);

interface Member extends Allocation {
  readonly DeploymentStatus: { readonly Healthy: boolean | null; readonly Canary: boolean } | null;
}

const update = {
  MaxParallel: 1,
  MinHealthyTime: '200ms',
  HealthyDeadline: '20s',
  ProgressDeadline: '60s',
};

const runs = 'exec sleep 1000';

/** Version `v` of three processes that run until they are stopped. */
const version = (
  id: string,
  v: string,
  changes: object = {},
  { script = runs, ...task }: { script?: string; Services?: object[] } = {},
) =>
  job(id, {
    group: {
      Count: 3,
      Update: { ...update, ...changes },
      RestartPolicy: { Attempts: 0, Mode: 'fail' },
      ReschedulePolicy: { Attempts: 0, Unlimited: false },
    },
    task: { ...shell(`echo ${v}; ${script}`), Env: { v }, KillTimeout: '1s', ...task },
  });

const allocations = async (id: string): Promise<Member[]> =>
  (await agent.get(`/v1/job/${id}/allocations`)).sort(byName);

const runningOf = async (id: string, of: number): Promise<Member[]> =>
  (await allocations(id)).filter(
    (one) => one.JobVersion === of && one.DesiredStatus === 'run' && one.ClientStatus === 'running',
  );

const deploymentUntil = (id: string, fields: object) =>
  agent.until(`/v1/job/${id}/deployment`, (deployment: HttpAnswer['json']) => {
    expect(deployment).toMatchObject(fields);
    return deployment;
  });

async function stable(id: string, changes: object = {}): Promise<void> {
  await agent.register(version(id, '0', changes));
  await deploymentUntil(id, { JobVersion: 0, Status: 'successful' });
}

const run = (body: object) => agent.cliWith(JSON.stringify(body), 'job', 'run', '-');

test.concurrent('a rolling update replaces one allocation at a time, and "job run" watches it', async () => {
  await stable('rolls');
  const before = await runningOf('rolls', 0);
  expect(before).toHaveLength(3);
  let mostAtOnce = 0;
  let fewestRunning = 3;
  const ended = new AbortController();
  const watching = (async () => {
    for (let index = 0; !ended.signal.aborted; ) {
      const url = `/v1/job/rolls/allocations?index=${index}&wait=500ms`;
      const { json, headers } = await agent.request('GET', url);
      index = Number(headers.get('x-scheduler-index'));
      const wanted = (json as Member[]).filter(({ DesiredStatus }) => DesiredStatus === 'run');
      const waiting = wanted.filter(({ DeploymentStatus }) => DeploymentStatus?.Healthy !== true);
      mostAtOnce = Math.max(mostAtOnce, waiting.length);
      const healthy = wanted.length - waiting.length;
      fewestRunning = Math.min(fewestRunning, healthy);
    }
  })();
  const { code, stdout, stderr } = await run(version('rolls', '1'));
  ended.abort();
  await watching;
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/Deployment [0-9a-f]{8} of version 1 is running: Deployment is running\n/);
  expect(stdout).toMatch(
    /Deployment [0-9a-f]{8} of version 1 is successful: Deployment completed successfully\n/,
  );
  expect(stdout).toContain('  main: 3 of 3 placed, 3 healthy, 0 unhealthy\n');
  expect(mostAtOnce).toBeLessThanOrEqual(1);
  expect(fewestRunning).toBeGreaterThanOrEqual(2);
  const after = await runningOf('rolls', 1);
  expect(after.map(({ Name }) => Name)).toEqual(before.map(({ Name }) => Name));
  expect(after.map((one) => processesOf(one).length > 0)).toEqual([true, true, true]);
  await eventually(() => expect(before.flatMap(processesOf)).toEqual([]));
  expect(await agent.get('/v1/job/rolls')).toMatchObject({ Version: 1, Stable: true });
  const status = await agent.cli('job', 'status', 'rolls');
  expect(status.stdout).toMatch(/Latest deployment\nID {7}[0-9a-f]{8}\nVersion {2}1\n/);
});

test.concurrent('a canary is promoted by a command', async () => {
  await stable('canary');
  const before = await runningOf('canary', 0);
  await agent.register(version('canary', '1', { Canary: 1 }));
  const { ID } = await deploymentUntil('canary', {
    StatusDescription: 'Deployment is running but requires manual promotion',
    TaskGroups: { main: { DesiredCanaries: 1, HealthyAllocs: 1 } },
  });
  const [one, ...others] = await runningOf('canary', 1);
  expect([others, one!.DeploymentStatus!.Canary]).toEqual([[], true]);
  expect((await runningOf('canary', 0)).map((old) => old.ID)).toEqual(before.map((old) => old.ID));
  const shown = await agent.cli('deployment', 'status', ID.slice(0, 8));
  expect(shown.stdout).toMatch(/main +1\/1 +no +3 +1 +1 +0 +no /);
  expect(shown.stdout).toContain('healthy (canary)');

  const promoted = await agent.cli('job', 'promote', 'canary');
  expect([promoted.code, promoted.stdout]).toEqual([
    0,
    expect.stringContaining(`Deployment ${ID.slice(0, 8)} is promoted.`),
  ]);
  const watched = await agent.cli('deployment', 'status', '-monitor', ID);
  expect(watched.code).toBe(0);
  const after = await runningOf('canary', 1);
  expect(after.map(({ Name }) => Name)).toEqual(before.map(({ Name }) => Name));
  expect(after.map((member) => member.ID)).toContain(one!.ID);
  expect(after.filter(({ DeploymentStatus }) => DeploymentStatus?.Canary)).toEqual([]);
  await eventually(() => expect(before.flatMap(processesOf)).toEqual([]));
});

test.concurrent('canaries are promoted automatically', async () => {
  await stable('auto');
  // Long enough for the command to see the deployment before its promotion.
  const changes = { Canary: 2, AutoPromote: true, MinHealthyTime: '3s' };
  const { code, stdout } = await run(version('auto', '1', changes));
  expect(code).toBe(0);
  expect(stdout).toContain('Deployment is running pending automatic promotion\n');
  expect(await runningOf('auto', 1)).toHaveLength(3);
  expect(await agent.get('/v1/job/auto/deployment')).toMatchObject({
    Status: 'successful',
    TaskGroups: { main: { Promoted: true, HealthyAllocs: 3 } },
  });
});

test.concurrent('a bad version is rolled back to the stable version automatically', async () => {
  await stable('reverts', { AutoRevert: true });
  const before = await runningOf('reverts', 0);
  const { code, stdout } = await run(
    // It fails long before it could be healthy.
    version(
      'reverts',
      '1',
      { AutoRevert: true, MinHealthyTime: '10s' },
      {
        script: 'sleep 0.1; exit 1',
      },
    ),
  );
  expect(code).toBe(2);
  expect(stdout).toMatch(
    /Deployment [0-9a-f]{8} of version 1 is failed: Failed due to unhealthy allocations - rolling back to job version 0\n/,
  );
  await deploymentUntil('reverts', { JobVersion: 2, Status: 'successful' });
  expect(await agent.get('/v1/job/reverts')).toMatchObject({ Version: 2, Stable: true });
  const live = await runningOf('reverts', 2);
  expect(live.map(({ Name }) => Name)).toEqual(before.map(({ Name }) => Name));
  const [bad] = (await allocations('reverts')).filter(({ JobVersion }) => JobVersion === 1);
  expect(bad).toMatchObject({ ClientStatus: 'failed', DeploymentStatus: { Healthy: false } });
  expect(eventTypes(bad!)).toContain('Alloc Unhealthy');
  const list = await agent.cli('job', 'deployments', 'reverts');
  expect(
    list.stdout
      .split('\n')
      .slice(1, 4)
      .map((line) => line.split(/ {2,}/).slice(2, 4)),
  ).toEqual([
    ['2', 'successful'],
    ['1', 'failed'],
    ['0', 'successful'],
  ]);
});

test.concurrent('a deployment is paused and resumed', async () => {
  await stable('pauses');
  // No allocation becomes healthy before the pause.
  const gate = join(newDirectory('gate'), 'open');
  const checked = { HealthCheck: 'checks', HealthyDeadline: '5m', ProgressDeadline: '10m' };
  const isOpen = { Type: 'script', Command: '/usr/bin/test', Args: ['-e', gate] };
  const Checks = [{ ...isOpen, Interval: '1s', Timeout: '20s' }];
  const body = version('pauses', '1', checked, { Services: [{ Name: 'gate', Checks }] });
  const { code } = await agent.cliWith(JSON.stringify(body), 'job', 'run', '-detach', '-');
  expect(code).toBe(0);
  const { ID } = await deploymentUntil('pauses', { JobVersion: 1, Status: 'running' });
  expect((await agent.cli('deployment', 'pause', ID.slice(0, 8))).code).toBe(0);
  await deploymentUntil('pauses', { Status: 'paused', StatusDescription: 'Deployment is paused' });
  writeFileSync(gate, '');
  // Allocations in progress become healthy, and no more are started.
  const { TaskGroups } = await deploymentUntil('pauses', {
    TaskGroups: { main: { HealthyAllocs: 1, PlacedAllocs: 1 } },
  });
  const evaluations = (await agent.get('/v1/job/pauses/evaluations')).length;
  await eventually(async () => {
    const list: { Status: string; TriggeredBy: string }[] = await agent.get(
      '/v1/job/pauses/evaluations',
    );
    expect(list.length).toBeGreaterThanOrEqual(evaluations);
    expect(list.every(({ Status }) => Status !== 'pending')).toBe(true);
    expect(list.some(({ TriggeredBy }) => TriggeredBy === 'deployment-watcher')).toBe(true);
  });
  expect(TaskGroups.main.PlacedAllocs).toBe(1);
  expect(await runningOf('pauses', 0)).toHaveLength(2);
  expect((await agent.cli('deployment', 'resume', ID)).code).toBe(0);
  expect((await agent.cli('deployment', 'status', '-monitor', ID)).code).toBe(0);
  expect(await runningOf('pauses', 1)).toHaveLength(3);
});

test.concurrent('a deployment is failed by a command', async () => {
  await stable('fails', { AutoRevert: true });
  await agent.register(version('fails', '1', { AutoRevert: true, MinHealthyTime: '15s' }));
  const { ID } = await deploymentUntil('fails', { JobVersion: 1, Status: 'running' });
  const { code, stdout } = await agent.cli('deployment', 'fail', ID);
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('The job goes back to what version 0 was.'),
  ]);
  await deploymentUntil('fails', { JobVersion: 2, Status: 'successful' });
  expect(await agent.get(`/v1/deployment/${ID}`)).toMatchObject({
    Status: 'failed',
    StatusDescription: 'Deployment marked as failed - rolling back to job version 0',
  });
  expect(await runningOf('fails', 1)).toEqual([]);
  const again = await agent.cli('deployment', 'fail', ID);
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining('cannot be failed: it is over: its status is failed.'),
  ]);
});

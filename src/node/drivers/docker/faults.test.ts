/** Tasks and nodes while the runtime dies, hangs and comes back. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realWorld } from '../../../base/ports-real.ts';
import { dataDirectory, id, servers, startAgent } from '../../agents.test-helper.ts';
import { eventually } from '../../eventually.test-helper.ts';
import { testAllocation, testJob, testPolicy } from '../../records.test-helper.ts';
import { DockerDriver } from './docker-driver.ts';
import { Podman, testImage } from './podman.test-helper.ts';

let podman: Podman;
beforeAll(async () => {
  podman = new Podman();
  await podman.start();
});
afterAll(() => podman.close());

function newDriver(unreachableTimeoutMs: number): DockerDriver {
  const { clock, timers } = realWorld;
  return new DockerDriver({
    clock,
    timers,
    dataDirectory,
    endWithAgent: false,
    environment: {},
    settings: { socket: podman.socket, unreachableTimeoutMs },
    processor: { cores: 2, totalMhz: 4000 },
  });
}

/** Polls its drivers often; each poll keeps the runtime busy for a while. */
const startNode = (unreachableTimeoutMs = 60_000) => {
  const driver = Object.assign(newDriver(unreachableTimeoutMs), { refreshMs: 400 });
  return startAgent({ drivers: [driver] });
};

const job = (script: string, attempts = 0) =>
  testJob([
    {
      Name: 'app',
      Driver: 'docker',
      Config: { image: testImage, network_mode: 'none', command: 'sh', args: ['-c', script] },
      KillTimeout: 300e6,
      RestartPolicy: { ...testPolicy, Attempts: attempts, Delay: 100e6 },
      Resources: { MemoryMB: 64, CPU: 100 },
    },
  ]);

const assign = (
  script: string,
  { number = 1, desired = 'run' as 'run' | 'stop', attempts = 0 } = {},
) =>
  servers.assign([
    {
      Allocation: testAllocation({
        ID: id(number),
        DesiredStatus: desired,
        AllocModifyIndex: desired === 'run' ? 1 : 2,
      }),
      Job: job(script, attempts),
    },
  ]);

const isRunning = () => eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
const messages = () =>
  (servers.reports.get(id(1))?.TaskStates.app?.Events ?? []).map(
    ({ DisplayMessage }) => DisplayMessage,
  );
const healthy = (is: boolean) =>
  eventually(() => expect(servers.node?.Drivers.docker?.Healthy).toBe(is));
const log = () =>
  readFileSync(join(dataDirectory, 'alloc', id(1), 'alloc/logs/app.stdout.0'), 'utf8');
const noContainers = () => eventually(() => expect(podman.containers()).toEqual([]));
const running = () => podman.run('ps', '-q').split('\n').filter(Boolean).length;

test('no task and no line of output is lost when the runtime dies and comes back', async () => {
  await startNode();
  assign('i=0; while :; do i=$((i+1)); echo $i; sleep 0.1; done');
  await isRunning();
  await podman.kill();
  await eventually(() =>
    expect(messages().at(-1)).toMatch(/^the container runtime does not answer: .*podman\.sock/),
  );
  await healthy(false);
  expect(servers.node?.Drivers.docker).toMatchObject({ Detected: true });
  expect(servers.statusOf(id(1))).toBe('running');
  await podman.start();
  await eventually(() => expect(messages().at(-1)).toBe('the container runtime answers again'));
  await healthy(true);
  const seen = log().length;
  await eventually(() => expect(log().length).toBeGreaterThan(seen + 20));
  const lines = log().trimEnd().split('\n').map(Number);
  expect(lines).toEqual(lines.map((_, index) => index + 1));
  assign('', { desired: 'stop' });
  await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
  await noContainers();
});

test('a task that was stopped while the runtime was away ends when it is back', async () => {
  await startNode();
  assign('exec sleep 600');
  await isRunning();
  await podman.kill();
  assign('', { desired: 'stop' });
  await healthy(false);
  expect(servers.statusOf(id(1))).toBe('running');
  expect(running()).toBe(1);
  await podman.start();
  await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
  await noContainers();
});

test('a task whose runtime is away for too long is lost, and its container is removed later', async () => {
  await startNode(1000);
  assign('exec sleep 600');
  await isRunning();
  await podman.kill();
  await eventually(() => expect(servers.statusOf(id(1))).toBe('failed'));
  expect(messages().join('\n')).toContain('the container runtime did not answer for too long');
  expect(running()).toBe(1);
  await podman.start();
  await noContainers();
});

test('a hanging runtime is reported as hanging', async () => {
  const agent = await startNode();
  assign('exec sleep 600');
  await isRunning();
  podman.freeze(true);
  await healthy(false);
  expect(servers.node?.Drivers.docker?.HealthDescription).toMatch(/no answer within 5000 ms/);
  podman.freeze(false);
  await healthy(true);
  expect(servers.statusOf(id(1))).toBe('running');
  await agent.stop({ stopTasks: true });
  await noContainers();
});

test('an agent that starts while the runtime is away takes its tasks up later', async () => {
  const first = await startNode();
  assign('echo begun; until test -e /local/go; do sleep 0.1; done; echo late; exit 4');
  await isRunning();
  await first.stop({ stopTasks: false });
  await podman.kill();
  await startNode();
  await eventually(() => expect(messages().join()).toMatch(/does not answer/));
  writeFileSync(join(dataDirectory, 'alloc', id(1), 'app/local/go'), '');
  await podman.start();
  await eventually(() => expect(servers.statusOf(id(1))).toBe('failed'));
  expect(messages().join('\n')).toContain('Exit Code: 4');
  expect(log()).toBe('begun\nlate\n');
});

test('a container that somebody else removes is reported as lost, and its task restarts', async () => {
  await startNode();
  assign('exec sleep 600', { attempts: 3 });
  await isRunning();
  podman.run('rm', '-f', '-t', '0', ...podman.containers());
  await eventually(() => expect(servers.reports.get(id(1))?.TaskStates.app?.Restarts).toBe(1));
  await isRunning();
  await eventually(() => expect(running()).toBe(1));
});

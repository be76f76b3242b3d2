/** The example job in a container, with a real runtime and the agent's default settings. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Podman, testImage } from '../../src/node/drivers/docker/podman.test-helper.ts';
import { type Agent, endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import type { Allocation } from '../support/jobs.ts';

const example = fileURLToPath(new URL('../../examples/container.hcl', import.meta.url));
let podman: Podman;
let agent: Agent;
/** Without a data directory it keeps nothing. */
const start = (dataDirectory?: string) =>
  startAgent({
    ...(dataDirectory !== undefined && { dataDirectory }),
    env: { DOCKER_HOST: `unix://${podman.socket}` },
  });

beforeAll(async () => {
  podman = new Podman();
  await podman.start();
});
afterAll(async () => {
  try {
    await endAgents();
  } finally {
    await podman.close();
  }
});

test('a container outlives the agent, has logs, and is ended', async () => {
  const dataDirectory = newDirectory();
  agent = await start(dataDirectory);
  const run = await agent.cli('job', 'run', '-detach', '-var', `image=${testImage}`, example);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  const running = () =>
    agent.until('/v1/job/container/allocations', (all: Allocation[]) => {
      expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(['running']);
      return all[0]!;
    });
  const { ID } = await running();
  await eventually(async () => {
    const { stdout } = await agent.cli('alloc', 'logs', ID, 'beat');
    expect(stdout).toMatch(/^hello from a container on \S+\n$/);
  });
  await agent.stop('SIGKILL');
  const before = podman.containers();
  agent = await start(dataDirectory);
  expect((await running()).ID).toBe(ID);
  expect(podman.containers()).toEqual(before);
  expect((await agent.cli('job', 'stop', 'container')).code).toBe(0);
  await eventually(() => expect(podman.containers()).toEqual([]));
});

test('a container ends with an agent without a data directory, even if the agent is killed', async () => {
  agent = await start();
  await agent.cli('job', 'run', '-detach', '-var', `image=${testImage}`, example);
  await eventually(() => expect(podman.containers()).toHaveLength(1));
  await agent.stop('SIGKILL');
  // The next agent on the same runtime removes it, even another agent.
  agent = await start();
  await eventually(() => expect(podman.containers()).toEqual([]));
});

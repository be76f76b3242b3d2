/** References with commands, in folders of the test in place of those of the machine. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Podman, testImage } from '../../src/node/drivers/docker/podman.test-helper.ts';
import {
  checkout,
  command,
  endAgents,
  newDirectory,
  rootToken,
  startAgent,
} from '../support/agent.ts';
import { TestKeyService } from '../support/key-service.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

const timeout = 180_000;
const programs = { roster: command };

/** Folders of a machine, each with its place in a new directory. */
function machine(...folders: readonly string[]) {
  const root = newDirectory('machine');
  const replace = Object.fromEntries(folders.map((folder) => [folder, join(root, folder)]));
  for (const folder of Object.values(replace)) mkdirSync(folder, { recursive: true });
  return { replace, at: (path: string) => join(root, path) };
}

test('the reference of the configuration of the agent does what it says', { timeout }, async () => {
  const { replace } = machine(
    '/etc/roster',
    '/var/lib/roster',
    '/var/log/roster',
    '/var/backups/roster',
    '/srv/data',
  );
  const env = {
    ROSTER_ADDR: 'http://127.0.0.1:4720',
    ROSTER_TOKEN: rootToken,
    ROSTER_ROOT_TOKEN: rootToken,
  };
  const cwd = newDirectory('reader');
  await runGuide('docs/reference/agent-configuration.md', { replace, programs, env, cwd });
});

test('the reference of the root key does what it says', { timeout }, async () => {
  const { replace, at } = machine('/etc/roster', '/var/lib/roster');
  const service = new TestKeyService();
  await service.start();
  writeFileSync(at('/etc/roster/kms-token'), 'kms-token\n');
  const addresses = { 'https://kms.example:8200/v1/transit': service.url };
  try {
    await runGuide('docs/reference/root-key.md', {
      replace: { ...replace, ...addresses },
      programs,
    });
  } finally {
    await service.stop();
  }
  expect(service.asked).toEqual(
    ['encrypt', 'decrypt'].map((verb) => `POST /v1/transit/${verb}/roster 200`),
  );
});

test('the references of the API and of the driver docker do what they say', {
  timeout,
}, async () => {
  const podman = new Podman();
  try {
    await podman.start();
    // The image that the example names, which no registry is asked for.
    podman.run('tag', testImage, 'docker.io/library/busybox:1.36');
    const agent = await startAgent({ env: { DOCKER_HOST: `unix://${podman.socket}` } });
    const env = { ROSTER_ADDR: agent.address, ROSTER_TOKEN: rootToken };
    const cwd = newDirectory('reader');
    symlinkSync(join(checkout, 'examples'), join(cwd, 'examples'));
    await runGuide('docs/reference/api.md', { programs, env, cwd });
    await runGuide('docs/reference/drivers/docker.md', { programs, env, cwd });
    await agent.stop();
  } finally {
    await endAgents();
    await podman.close();
  }
});

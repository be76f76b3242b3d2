/** Tasks in containers of a real runtime. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { realWorld } from '../../../base/ports-real.ts';
import type { TaskDirectories } from '../../directories.ts';
import type { DriverTask } from '../driver.ts';
import { DockerDriver, type DockerDriverOptions } from './docker-driver.ts';
import { Podman, testImage } from './podman.test-helper.ts';

export let podman: Podman;
beforeAll(async () => {
  podman = new Podman();
  await podman.start();
});
afterAll(() => podman.close());

export let directory: string;
export let directories: TaskDirectories;
export let drivers: DockerDriver[];
let told: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-docker-'));
  const root = join(directory, 'app');
  const shared = join(directory, 'alloc');
  directories = {
    root,
    shared,
    logs: join(shared, 'logs'),
    local: join(root, 'local'),
    secrets: join(root, 'secrets'),
  };
  for (const path of [...Object.values(directories), join(root, 'private')]) {
    mkdirSync(path, { recursive: true });
  }
  drivers = [];
  told = [];
});
afterEach(async () => {
  for (const driver of drivers) {
    await driver.killAll();
    await driver.close();
  }
  rmSync(directory, { recursive: true });
});

export function newDriver(options: Partial<DockerDriverOptions> = {}): DockerDriver {
  const driver = new DockerDriver({
    clock: realWorld.clock,
    timers: realWorld.timers,
    settings: { socket: podman.socket },
    dataDirectory: directory,
    endWithAgent: false,
    environment: {},
    processor: { cores: 2, totalMhz: 4000 },
    ...options,
  });
  drivers.push(driver);
  return driver;
}

let runs = 0;
export function taskOf(script: string, fields: Partial<DriverTask> = {}): DriverTask {
  const { config, ...rest } = fields;
  return {
    runId: `a1111111/app#${++runs}`,
    allocId: 'a1111111',
    namespace: 'default',
    jobId: 'web',
    groupName: 'servers',
    taskName: 'app',
    variables: { GREETING: 'hello there', ROSTER_TASK_DIR: '/local' },
    directories,
    resources: { cpuMhz: 500, cores: [], memoryMb: 64, memoryMaxMb: 0 },
    ports: [],
    user: '',
    logs: {
      directory: directories.logs,
      name: 'app',
      maxFiles: 3,
      maxFileBytes: 2 ** 20,
      disabled: false,
    },
    tell: (sentence) => told.push(sentence),
    config: {
      image: testImage,
      command: 'sh',
      args: ['-c', script],
      network_mode: 'none',
      ...config,
    },
    ...rest,
  };
}

export const log = (stream = 'stdout'): string =>
  readdirSync(directories.logs)
    .filter((name) => name.startsWith(`app.${stream}.`))
    .sort((left, right) => Number(left.split('.')[2]) - Number(right.split('.')[2]))
    .map((name) => readFileSync(join(directories.logs, name), 'utf8'))
    .join('');

export async function runToEnd(script: string, fields: Partial<DriverTask> = {}) {
  const handle = await newDriver().start(taskOf(script, fields));
  return handle.exited;
}

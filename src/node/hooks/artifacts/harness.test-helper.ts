/** Runs a task with artifacts on the mock driver, to look at its files. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { realWorld } from '../../../base/ports-real.ts';
import { complete } from '../../../model/complete.ts';
import { NodeRegistrationSchema } from '../../../model/node/node.ts';
import type { Input } from '../../../model/schema.ts';
import type { Artifact } from '../../../model/task/files.ts';
import type { Task } from '../../../model/task/task.ts';
import { AllocationRunner } from '../../allocation-runner/allocation-runner.ts';
import { readSavedAllocations } from '../../allocation-runner/saved-allocation.ts';
import { MockDriver } from '../../drivers/mock.ts';
import { eventually } from '../../eventually.test-helper.ts';
import { testAllocation, testJob } from '../../records.test-helper.ts';
import { artifactsHook } from './artifacts.ts';
import type { ArtifactSettings } from './settings.ts';

/** A directory with sources of artifacts, readable for every user. */
export let sources: string;
export let dataDirectory: string;
let runners: AllocationRunner[];
let servers: Server[];

beforeEach(async () => {
  sources = mkdtempSync(join(tmpdir(), 'roster-sources-'));
  chmodSync(sources, 0o755);
  dataDirectory = mkdtempSync(join(tmpdir(), 'roster-artifacts-'));
  runners = [];
  servers = [];
});

afterEach(async () => {
  for (const runner of runners) await runner.leave();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(sources, { recursive: true, force: true });
  rmSync(dataDirectory, { recursive: true, force: true });
});

/** Starts an HTTP server with `handle`, and returns its address. */
export async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Wanted {
  readonly settings?: Partial<ArtifactSettings>;
  readonly task?: Input<Task>;
  readonly directory?: string;
}

const newDirectory = (): string => mkdtempSync(join(dataDirectory, 'data-'));

/** Runs a task with these artifacts, without restarts. */
export async function start(
  artifacts: readonly Input<Artifact>[],
  { settings = {}, task = {}, directory = newDirectory() }: Wanted = {},
) {
  mkdirSync(directory, { recursive: true });
  await readSavedAllocations(directory);
  const driver = new MockDriver(realWorld);
  const notices: string[] = [];
  const surroundings = {
    world: realWorld,
    dataDirectory: directory,
    region: 'global',
    hostEnvironment: {},
    allocationHooks: [],
    taskHooks: [artifactsHook(settings)],
    drivers: new Map([['mock', driver]]),
    node: () => complete(NodeRegistrationSchema, { ID: 'n1', Meta: { colour: 'blue' } }),
    changed: () => {},
    onNotice: (sentence: string) => void notices.push(sentence),
  };
  const RestartPolicy = { Attempts: 0, Interval: 60e9, Delay: 0, Mode: 'fail' };
  const runner = new AllocationRunner(
    surroundings,
    testAllocation(),
    testJob([
      {
        Name: 'app',
        RestartPolicy,
        Artifacts: artifacts.map((one) => ({ RelativeDest: 'local/', ...one })),
        ...task,
      },
    ]),
  );
  runners.push(runner);
  await runner.start();
  const root = join(directory, 'alloc', runner.id, 'app');
  const staged = () => readdirSync(join(root, '..')).filter((name) => name.endsWith('.artifacts'));
  return {
    runner,
    driver,
    root,
    shared: join(directory, 'alloc', runner.id, 'alloc'),
    state: () => runner.report.TaskStates.app!,
    events: () => runner.report.TaskStates.app!.Events!,
    /** Files beside the directory of the task during a fetch. */
    staged,
    staging: () => staged().map((name) => join(root, '..', name)),
  };
}

export type Started = Awaited<ReturnType<typeof start>>;

/** Waits until it runs. Rejects with its events when it fails. */
export async function running(started: Started): Promise<Started> {
  await eventually(() => {
    if (started.state().State === 'running') return;
    throw new Error(JSON.stringify(started.events().map(({ DisplayMessage }) => DisplayMessage)));
  });
  return started;
}

/** Waits until it has failed, and returns the reason. Nothing of the artifact may be left. */
export async function failure(started: Started): Promise<string> {
  const event = await eventually(() => {
    const found = started.events().find(({ Type }) => Type === 'Failed Artifact Download');
    if (found !== undefined) return found;
    throw new Error(JSON.stringify(started.events().map(({ DisplayMessage }) => DisplayMessage)));
  }, 15_000);
  await eventually(() => {
    const left = [...filesIn(join(started.root, 'local')), ...started.staged()];
    if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  });
  if (started.driver.started.length > 0) throw new Error('the task was started');
  return event.DownloadError;
}

/** All below a directory, sorted; directories end with a slash. */
export function filesIn(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name).slice(directory.length + 1);
      return entry.isDirectory() ? `${path}/` : path;
    })
    .sort();
}

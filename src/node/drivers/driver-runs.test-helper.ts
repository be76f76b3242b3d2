/** Runs of real drivers on a real supervisor, for tests; they end with their test file. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { realWorld } from '../../base/ports-real.ts';
import {
  allocationDirectories,
  makeAllocationDirectories,
  makeTaskDirectories,
  type TaskDirectories,
  taskDirectories,
} from '../directories.ts';
import { leftoversOf } from '../orphans.test-helper.ts';
import { SupervisorClient } from '../supervisor/client.ts';
import { findSystemUser } from '../system-user.ts';
import type { Driver, DriverHandle, DriverTask } from './driver.ts';
import type { IsolationSettings } from './isolation/settings.ts';
import { processDrivers } from './processes.ts';

export let dataDirectory: string;
export let supervisor: SupervisorClient;
let allocations: string[];
let drivers = new Map<string, Driver>();

beforeAll(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'roster-driver-'));
  mkdirSync(join(dataDirectory, 'alloc'));
  allocations = [];
  supervisor = newSupervisor();
});

afterAll(async () => {
  await supervisor.connect().catch(() => {});
  await supervisor.shutdown('SIGKILL', 100);
  try {
    expect(allocations.flatMap(leftoversOf)).toEqual([]);
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

/** The supervisor's client of a next agent. */
export function newSupervisor(): SupervisorClient {
  const { timers, random } = realWorld;
  drivers = new Map();
  supervisor = new SupervisorClient({ dataDirectory, endWithAgent: false, timers, random });
  return supervisor;
}

/** The same driver for the same settings, as a driver examines the machine only once. */
export function driverNamed(name: string, settings: IsolationSettings = {}): Driver {
  const key = `${JSON.stringify(settings)} ${name}`;
  const { PATH = '' } = process.env;
  const known =
    drivers.get(key) ??
    processDrivers(supervisor, settings, PATH).find((one) => one.name === name)!;
  drivers.set(key, known);
  return known;
}

export interface Run extends DriverHandle {
  readonly task: DriverTask;
  readonly directories: TaskDirectories;
  /** Its output so far. */
  readonly log: (stream?: 'stdout' | 'stderr') => string;
}

/** Starts a task of an allocation of its own. */
export async function runTask(
  driver: Driver,
  config: Record<string, unknown>,
  change: Partial<DriverTask> & { readonly prepare?: (at: TaskDirectories) => void } = {},
): Promise<Run> {
  const allocId = realWorld.ids.uuid();
  allocations.push(allocId);
  const { prepare, ...fields } = change;
  const { defaultUser: user = '' } = driver;
  const paths = allocationDirectories(dataDirectory, allocId);
  const directories = taskDirectories(paths, 'app');
  await makeAllocationDirectories(paths);
  await makeTaskDirectories(directories, findSystemUser(fields.user ?? user));
  prepare?.(directories);
  const task: DriverTask = {
    runId: `${allocId}/app#1`,
    allocId,
    taskName: 'app',
    user,
    config,
    directories,
    namespace: 'default',
    jobId: 'job',
    groupName: 'group',
    ports: [],
    resources: { cpuMhz: 100, cores: [], memoryMb: 64, memoryMaxMb: 0 },
    logs: {
      directory: directories.logs,
      name: 'app',
      disabled: false,
      maxFiles: 2,
      maxFileBytes: 1_000_000,
    },
    ...fields,
    variables: {
      PATH: '/usr/bin:/bin',
      ROSTER_ALLOC_ID: allocId,
      ROSTER_TASK_NAME: 'app',
      ...fields.variables,
    },
  };
  const handle = await driver.start(task);
  const log = (stream = 'stdout') => {
    try {
      return readFileSync(join(directories.logs, `app.${stream}.0`), 'utf8');
    } catch {
      return '';
    }
  };
  return { ...handle, task, directories, log };
}

/** A task that runs a shell script. */
export const script = (text: string, config: Record<string, unknown> = {}) => ({
  command: '/bin/sh',
  args: ['-c', text],
  ...config,
});

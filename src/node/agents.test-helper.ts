/** Node agents in this process that run real tasks, for tests; their tasks end with each test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { realWorld } from '../base/ports-real.ts';
import type { AllocationReport } from '../model/allocation/allocation.ts';
import { FakeServers } from './fake-servers.test-helper.ts';
import { NodeAgent, type NodeAgentOptions } from './node-agent.ts';
import { testAllocation, testJob, testPolicy } from './records.test-helper.ts';
import type { Assignment } from './server-api.ts';
import { SupervisorClient } from './supervisor/client.ts';
import { findLeftovers } from './supervisor/sweep.ts';

export let dataDirectory: string;
export let servers: FakeServers;
let agents: NodeAgent[];

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'roster-node-'));
  servers = new FakeServers();
  agents = [];
});

afterEach(async () => {
  await agents.at(-1)?.stop({ stopTasks: true });
  const { timers, random } = realWorld;
  const last = new SupervisorClient({ dataDirectory, endWithAgent: true, timers, random });
  await last.connect();
  await last.shutdown('SIGKILL', 100);
  rmSync(dataDirectory, { recursive: true, force: true });
});

export const optionsOf = (): NodeAgentOptions => ({
  world: realWorld,
  api: servers,
  dataDirectory,
  version: '1.2.3',
  region: 'global',
  settings: { name: 'alpha', address: '127.0.0.1' },
  allowedDrivers: { allow: ['docker', 'exec', 'java', 'raw_exec'] },
  endWithAgent: false,
  environment: { PATH: process.env.PATH, ROSTER_TOKEN: 'never-in-a-task' },
  onNotice: () => {},
});

export async function startAgent(options: Partial<NodeAgentOptions> = {}): Promise<NodeAgent> {
  const agent = new NodeAgent({ ...optionsOf(), ...options });
  agents.push(agent);
  await agent.start();
  return agent;
}

/** Different in each run, as leftovers of tasks are searched for by it on the whole machine. */
const run = realWorld.ids.uuid().slice(0, 8);
export const id = (number: number) => `${run}-0000-4000-8000-00000000000${number}`;

export function assignment(
  script: string,
  fields: { number?: number; desired?: 'run' | 'stop'; killTimeoutMs?: number } = {},
) {
  const { number = 1, desired = 'run', killTimeoutMs = 1000 } = fields;
  const Config = { command: 'sh', args: ['-c', script] };
  const KillTimeout = killTimeoutMs * 1e6;
  const RestartPolicy = { ...testPolicy, Attempts: 0 };
  return {
    Allocation: testAllocation({
      ID: id(number),
      DesiredStatus: desired,
      AllocModifyIndex: desired === 'run' ? 1 : 2,
    }),
    Job: testJob([{ Name: 'app', Driver: 'raw_exec', Config, KillTimeout, RestartPolicy }]),
  } satisfies Assignment;
}

export const running = (number = 1) =>
  findLeftovers([{ allocId: id(number), taskName: 'app', pid: 0, startTime: '' }]);

export const eventsOf = (report: AllocationReport | undefined) =>
  (report?.TaskStates.app?.Events ?? []).map(({ Type }) => Type);

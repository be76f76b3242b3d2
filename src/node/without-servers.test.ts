/** Allocations on a node that no server hears of, by docs/behaviour/client.md#without-servers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { complete } from '../model/complete.ts';
import type { JobInput } from '../model/job/job.ts';
import { limits } from '../model/limits.ts';
import { DisconnectSchema } from '../model/task-group/policies.ts';
import { MockDriver } from './drivers/mock.ts';
import { eventually } from './eventually.test-helper.ts';
import { FakeServers } from './fake-servers.test-helper.ts';
import { NodeAgent } from './node-agent.ts';
import { testAllocation, testJob } from './records.test-helper.ts';

const second = 1e9;
const minuteMs = 60_000;
/** By when servers miss a heartbeat: each answer of `FakeServers` gives 20 seconds. */
const missedMs = 20_000 + limits.node.heartbeatGraceMs;
/** For what is done between two steps of time. */
const slackMs = 2_000;

let dataDirectory: string;
let world: SimulatedWorld;
let driver: MockDriver;
let servers: FakeServers;
let agent: NodeAgent;

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-without-servers-'));
  world = new SimulatedWorld(7);
  driver = new MockDriver(world);
  servers = new FakeServers();
});

afterEach(async () => {
  await stopAgent();
  await rm(dataDirectory, { recursive: true });
});

async function startAgent(): Promise<void> {
  agent = new NodeAgent({
    world,
    api: servers,
    dataDirectory,
    version: '1.2.3',
    region: 'global',
    settings: { name: 'alpha', address: '127.0.0.1' },
    drivers: [driver],
    withoutRawExec: true,
    endWithAgent: false,
    environment: {},
    onNotice: () => {},
  });
  await agent.start();
}

async function stopAgent(stopTasks = false): Promise<void> {
  let isStopped = false;
  const stopped = agent.stop({ stopTasks }).then(() => {
    isStopped = true;
  });
  await until(() => expect(isStopped).toBe(true), 10);
  await stopped;
}

const until = (check: () => void, stepMs = 100) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  });

const cleanUp = { Name: 'clean', Config: { run_for: '1s' }, Lifecycle: { Hook: 'poststop' } };

/** Allocation 1 stops a minute after the last contact, allocation 2 does not. */
async function runTwo({ graceMs = minuteMs, ...fields }: JobInput & { graceMs?: number } = {}) {
  const job = testJob([{ Name: 'app' }, cleanUp], fields);
  const Disconnect = complete(DisconnectSchema, { StopOnClientAfter: (graceMs / 1000) * second });
  const TaskGroups = job.TaskGroups.map((group) => ({ ...group, Disconnect }));
  servers.assign([
    { Allocation: testAllocation({ ID: 'a1' }), Job: { ...job, TaskGroups } },
    { Allocation: testAllocation({ ID: 'a2' }), Job: testJob([{ Name: 'app' }], fields) },
  ]);
  await until(() => expect(told()).toEqual(['running', 'running']));
}

const told = () => ['a1', 'a2'].map((id) => servers.statusOf(id));
const report = (id: string) => agent.allocations?.get(id)?.report;
const statuses = () => ['a1', 'a2'].map((id) => report(id)?.ClientStatus);
const starts = () => driver.started.map(({ taskName }) => taskName);

/** From a heartbeat on no server is reached. */
async function loseServers(): Promise<void> {
  const { heartbeats } = servers;
  await until(() => expect(servers.heartbeats).toBeGreaterThan(heartbeats));
  servers.lose();
}

/** From a heartbeat on no server leads. */
async function loseLeader(code: string): Promise<void> {
  const { heartbeats } = servers;
  await until(() => expect(servers.heartbeats).toBeGreaterThan(heartbeats));
  servers.leaderless = code;
}

test('a node that servers without a leader hear is not without servers', async () => {
  await startAgent();
  await runTwo();
  await loseLeader('no-leader-since');
  await world.advance(10 * minuteMs);
  expect(statuses()).toEqual(['running', 'running']);
  await loseServers();
  await world.advance(minuteMs - slackMs);
  expect(statuses()).toEqual(['running', 'running']);
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
});

test('servers that do not know whether a leader misses the node are no contact', async () => {
  await startAgent();
  await runTwo();
  await loseLeader('no-leader');
  await world.advance(minuteMs + slackMs);
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
});

function findServers(): void {
  servers.reachable = true;
}

test('the allocation that asks for it ends in time, with its reason, and what cleans up runs', async () => {
  await startAgent();
  await runTwo();
  await loseServers();
  await world.advance(minuteMs - slackMs);
  expect(statuses()).toEqual(['running', 'running']);
  await world.advance(slackMs);
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
  expect(starts()).toEqual(['app', 'app', 'clean']);
  expect(report('a1')?.ClientDescription).toBe(
    'Stopped, as the node had no contact with the servers',
  );
  const messages = report('a1')?.TaskStates.app?.Events?.map((event) => event.DisplayMessage);
  expect(messages).toContain(
    'The node had no contact with the servers for the stop_on_client_after of 1m0s',
  );
  findServers();
  await until(() => expect(told()).toEqual(['complete', 'running']));
});

test('a batch allocation counts as failed, since a complete one is never placed again', async () => {
  await startAgent();
  await runTwo({ Type: 'batch' });
  await loseServers();
  await until(() => expect(statuses()).toEqual(['failed', 'running']), 1000);
});

test('servers that come back in time are asked for nothing', async () => {
  await startAgent();
  await runTwo();
  for (let loss = 0; loss < 3; loss++) {
    await loseServers();
    await world.advance(minuteMs - 20_000);
    findServers();
  }
  expect(statuses()).toEqual(['running', 'running']);
});

test('a node that is heard of keeps disconnected allocations for a moment only', async () => {
  await startAgent();
  await runTwo({ graceMs: 1 });
  await world.advance(10 * minuteMs);
  expect(statuses()).toEqual(['running', 'running']);
  await loseServers();
  await world.advance(missedMs - slackMs);
  expect(statuses()).toEqual(['running', 'running']);
  await world.advance(slackMs);
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
});

test('an update of the job sets the time anew', async () => {
  await startAgent();
  await runTwo();
  const { allocation, job } = agent.allocations!.get('a1')!;
  const Disconnect = { ...job.TaskGroups[0]!.Disconnect!, StopOnClientAfter: 600 * second };
  const TaskGroups = job.TaskGroups.map((group) => ({ ...group, Disconnect }));
  const other = testAllocation({ ID: 'a2' });
  servers.assign([
    { Allocation: { ...allocation, AllocModifyIndex: 9 }, Job: { ...job, TaskGroups } },
    { Allocation: other, Job: null },
  ]);
  await until(() => expect(agent.allocations!.get('a1')!.allocation.AllocModifyIndex).toBe(9));
  await loseServers();
  await world.advance(5 * minuteMs);
  expect(statuses()).toEqual(['running', 'running']);
  await until(() => expect(statuses()).toEqual(['complete', 'running']), 10_000);
});

test('the time goes on from one agent to the next', async () => {
  await startAgent();
  await runTwo();
  await loseServers();
  await world.advance(30_000);
  await stopAgent();
  await startAgent();
  await world.advance(20_000);
  expect(statuses()).toEqual(['running', 'running']);
  await world.advance(10_000);
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
  expect(starts()).toEqual(['app', 'app', 'clean']);
});

test('whose time is over while no agent runs is ended by the next one, before servers answer', async () => {
  await startAgent();
  await runTwo();
  await loseServers();
  await stopAgent();
  await world.advance(2 * minuteMs);
  await startAgent();
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
});

test('tasks that ended with the agent do not begin again when the time is over', async () => {
  await startAgent();
  await runTwo();
  await loseServers();
  await stopAgent(true);
  await world.advance(2 * minuteMs);
  await startAgent();
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
  expect(
    starts()
      .slice(2)
      .filter((task) => task === 'app'),
  ).toHaveLength(1);
});

test.each([
  ['lost', (path: string) => rm(path)],
  ['damaged', (path: string) => writeFile(path, '{"lastMs":')],
])('where the last contact is %s the time begins with the agent', async (_, spoil) => {
  await startAgent();
  await runTwo();
  await loseServers();
  await stopAgent();
  await spoil(join(dataDirectory, 'server-contact.json'));
  await world.advance(2 * minuteMs);
  await startAgent();
  await world.advance(50_000);
  expect(statuses()).toEqual(['running', 'running']);
  await world.advance(10_000);
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
});

test('a clock that is set back or forth ends nothing', async () => {
  await startAgent();
  await runTwo();
  await loseServers();
  world.jumpWallClock(60 * minuteMs);
  await world.advance(minuteMs - slackMs);
  expect(statuses()).toEqual(['running', 'running']);
  world.jumpWallClock(-120 * minuteMs);
  await until(() => expect(statuses()).toEqual(['complete', 'running']));
});

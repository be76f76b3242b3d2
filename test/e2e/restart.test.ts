/** After a restart, acknowledged writes are present and indexes do not go back. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { savedAllocationPath } from '../../src/node/allocation-runner/files.ts';
import {
  type Agent,
  endAgents,
  eventually,
  indexOf,
  newDirectory,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, idle, job, once, shell, taskOf } from '../support/jobs.ts';

afterAll(endAgents);

const ids = ['web', 'sums', 'stopped', 'huge', 'returns'];
const lists = ['/v1/jobs', '/v1/allocations', '/v1/evaluations', '/v1/deployments', '/v1/nodes'];
const paths = [
  '/v1/jobs',
  '/v1/allocations',
  '/v1/evaluations',
  '/v1/deployments',
  ...ids.flatMap((id) =>
    ['', '/allocations', '/evaluations', '/deployments', '/summary'].map(
      (part) => `/v1/job/${id}${part}`,
    ),
  ),
];

const read = async (agent: Agent) =>
  Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await agent.get(path)])));

/** Without the fields that a server's first look at blocked evaluations changes. */
const settled = (value: unknown) =>
  Array.isArray(value) ? value.map((row) => (row.Status === 'blocked' ? looked(row) : row)) : value;

const looked = (evaluation: object) => ({
  ...evaluation,
  ModifyIndex: 0,
  ModifyTime: 0,
  SnapshotIndex: 0,
  FailedTGAllocs: null,
  QueuedAllocations: {},
});

const webProcesses = (all: Record<string, Allocation[]>): number[] =>
  all['/v1/job/web/allocations']!.flatMap(processesOf);

const startSaved = (dataDirectory: string, id: string) =>
  eventually(async () => {
    const path = savedAllocationPath(join(dataDirectory, 'node'), id);
    expect(await readFile(path, 'utf8')).toContain('"Started"');
  });

const indexes = async (agent: Agent) =>
  Promise.all(lists.map(async (path) => indexOf(await agent.request('GET', path))));

const allocationUntil = (agent: Agent, id: string, expected: object) =>
  agent.until(`/v1/job/${id}/allocations`, ([allocation]: Allocation[]) => {
    expect(allocation).toMatchObject(expected);
    return allocation!;
  });

const running = { DesiredStatus: 'run', ClientStatus: 'running' };

/** No allocation becomes healthy during a test. */
const slowly = {
  Update: { MinHealthyTime: '20m', HealthyDeadline: '30m', ProgressDeadline: '40m' },
};

/** No failed task is retried during a test. */
const muchLater = { Attempts: 0, Unlimited: true, Delay: '1h', DelayFunction: 'constant' };

/**
 * Jobs in every condition: with two versions, complete, stopped, blocked, and waiting for a retry.
 */
async function populate(agent: Agent): Promise<void> {
  await agent.register(job('web', { group: slowly, task: idle }));
  await allocationUntil(agent, 'web', running);
  const Env = { VERSION: 'two' };
  await agent.register(job('web', { group: slowly, task: { ...idle, Env } }));
  await agent.register(job('sums', { job: { Type: 'batch' }, task: shell('echo 2') }));
  await agent.register(job('stopped', { group: slowly, task: idle }));
  await allocationUntil(agent, 'stopped', running);
  await agent.cli('job', 'stop', 'stopped');
  await agent.register(job('huge', { task: { ...idle, Resources: { CPU: 1e9, MemoryMB: 10 } } }));
  const { RestartPolicy } = once;
  const group = { RestartPolicy, ReschedulePolicy: muchLater };
  await agent.register(job('returns', { group, task: shell('exit 1') }));
  await allocationUntil(agent, 'returns', { FollowupEvalID: expect.stringMatching(/./) });
  await agent.until('/v1/job/web/allocations', (all: Allocation[]) => {
    expect(all.map((one) => `${one.JobVersion} ${one.ClientStatus}`).sort()).toEqual([
      '0 complete',
      '1 running',
    ]);
  });
  await agent.until('/v1/job/sums', ({ Status }) => expect(Status).toBe('dead'));
  await agent.until('/v1/evaluations', (all: { Status: string; JobID: string }[]) => {
    const open = all.filter(({ Status }) => /pending|blocked/.test(Status));
    expect(open.map(({ JobID, Status }) => `${JobID} ${Status}`).sort()).toEqual([
      'huge blocked',
      'returns pending',
    ]);
  });
}

describe('a restarted agent finds everything unchanged', () => {
  test.each([
    ['when it was killed', 'SIGKILL'],
    ['when it was told to end', 'SIGTERM'],
  ] as const)('%s', async (_name, signal) => {
    const dataDirectory = newDirectory();
    const first = await startAgent({
      dataDirectory,
      token: null,
      args: ['--tasks-on-exit', 'keep'],
    });
    await populate(first);
    const [before, indexesBefore] = [await read(first), await indexes(first)];
    const [node] = await first.get('/v1/nodes');
    const processes = webProcesses(before);
    // A node saves the start of a task a moment later. An agent that is restarted before notes the time of the restart as
    // the start of the task.
    for (const { ID, ClientStatus } of before['/v1/allocations']) {
      if (ClientStatus === 'running') await startSaved(dataDirectory, ID);
    }
    await first.stop(signal);

    const second = await startAgent({ dataDirectory, token: null });
    expect(second.token).toBe(first.token);
    await second.until('/v1/nodes', (nodes) => {
      expect(nodes).toEqual([expect.objectContaining({ ID: node.ID, Status: 'ready' })]);
    });
    const after = await read(second);
    for (const path of paths) {
      expect([path, settled(after[path])]).toEqual([path, settled(before[path])]);
    }
    const indexesAfter = await indexes(second);
    for (const [place, index] of indexesBefore.entries()) {
      expect(indexesAfter[place]).toBeGreaterThanOrEqual(index);
    }
    const { JobModifyIndex } = await second.register(
      job('next', { group: { Count: 0 }, task: idle }),
    );
    expect(JobModifyIndex).toBeGreaterThan(Math.max(...indexesBefore));
    expect(webProcesses(after)).toEqual(processes);
    expect(processes).toHaveLength(1);
    await second.stop();
  });
});

test('the index of a list emptied by a purge does not go back', async () => {
  const dataDirectory = newDirectory();
  const first = await startAgent({ dataDirectory });
  const body = job('none', { group: { Count: 0 }, task: idle });
  await first.register(body);
  await first.request('DELETE', '/v1/job/none?purge=true');
  const emptied = await first.request('GET', '/v1/jobs');
  expect(emptied.json).toEqual([]);
  await first.stop('SIGKILL');
  const second = await startAgent({ dataDirectory });
  const again = await second.request('GET', '/v1/jobs');
  expect([again.json, indexOf(again)]).toEqual([[], indexOf(emptied)]);
  // A client that knows the list's index waits, and learns of the next change.
  const waiting = second.request('GET', `/v1/jobs?index=${indexOf(emptied)}&wait=60s`);
  await second.register(body);
  expect(await waiting).toMatchObject({ json: [{ ID: 'none' }] });
  await second.stop();
});

test('writes acknowledged right before a kill are present and carried out', async () => {
  const dataDirectory = newDirectory();
  const first = await startAgent({ dataDirectory });
  await first.register(job('ends', { task: idle }));
  await first.register(job('goes', { task: idle }));
  const ends: Allocation = await allocationUntil(first, 'ends', running);
  const goes: Allocation = await allocationUntil(first, 'goes', running);
  const acknowledged: string[] = [];
  await first.request('DELETE', '/v1/job/ends');
  await first.request('DELETE', '/v1/job/goes?purge=true');
  const registrations = Array.from({ length: 60 }, async (_, index) => {
    const id = `job-${index}`;
    const Count = index % 20 === 0 ? 1 : 0;
    await first.register(job(id, { group: { Count }, task: idle }));
    if (acknowledged.push(id) === 15) first.signal('SIGKILL');
  });
  await Promise.allSettled(registrations);
  await first.ended;

  const second = await startAgent({ dataDirectory });
  const known: string[] = (await second.get('/v1/jobs')).map(({ ID }: { ID: string }) => ID);
  expect(acknowledged.filter((id) => !known.includes(id))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThanOrEqual(15);
  // Every job that exists, acknowledged or not, has its evaluation, and that is complete.
  await second.until('/v1/evaluations', (all: { JobID: string; Status: string }[]) => {
    expect(new Set(all.map(({ JobID }) => JobID))).toEqual(new Set([...known, 'goes']));
    expect(all.filter(({ Status }) => Status !== 'complete')).toEqual([]);
  });
  for (const id of known.filter((name) => /^job-(0|20|40)$/.test(name))) {
    const allocation = await allocationUntil(second, id, running);
    await eventually(() => expect(processesOf(allocation)).toHaveLength(1));
    expect(taskOf(allocation).Restarts).toBe(0);
  }
  await allocationUntil(second, 'ends', { ID: ends.ID, ClientStatus: 'complete' });
  expect(processesOf(ends)).toEqual([]);
  await eventually(() => expect(processesOf(goes)).toEqual([]));
  await second.stop();
});

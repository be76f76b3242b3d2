/** Two nodes with real processes. A node is drained, lost, and comes back. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Agent,
  checkout,
  endAgents,
  eventually,
  type HttpAnswer,
  launch,
  newDirectory,
  type Program,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, eventTypes, idle, job, taskOf } from '../support/jobs.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

let agent: Agent;
let second: Program;
/** The ids of the server's own node and of the other node. */
let nodes: readonly [string, string];
beforeAll(async () => {
  const dataDirectory = newDirectory();
  agent = await startAgent({ dataDirectory, args: ['--node-name', 'first'] });
  second = launch(process.execPath, [
    join(checkout, 'test/support/node-only.ts'),
    JSON.stringify({
      address: agent.address,
      introductionToken: await agent.introduce({ Uses: 0 }),
      dataDirectory: newDirectory('node'),
      name: 'second',
    }),
  ]);
  const [, id = ''] = await second.says(/node (\S+)\n/);
  const list = await agent.until('/v1/nodes', (json) => {
    const ready = json.filter(({ Status }: { Status: string }) => Status === 'ready');
    expect(ready).toHaveLength(2);
    return ready as { ID: string }[];
  });
  nodes = [list.find(({ ID }) => ID !== id)!.ID, id];
});
afterAll(endAgents);

const live = (json: HttpAnswer['json']): Allocation[] =>
  (json as Allocation[]).filter(
    ({ DesiredStatus, ClientStatus }) => DesiredStatus === 'run' && ClientStatus === 'running',
  );
const running = (id: string, count: number, nodeId?: string) =>
  agent.until(`/v1/job/${id}/allocations`, (json) => {
    const found = live(json).filter(({ NodeID }) => nodeId === undefined || NodeID === nodeId);
    expect(found).toHaveLength(count);
    return found;
  });

const group = {
  Count: 3,
  Migrate: { MaxParallel: 1, MinHealthyTime: '100ms', HealthyDeadline: '20s' },
  Update: {
    MaxParallel: 3,
    MinHealthyTime: '100ms',
    HealthyDeadline: '20s',
    ProgressDeadline: '60s',
  },
};

test('a drain moves the processes to the other node, one at a time', async () => {
  await agent.cli('node', 'eligibility', '-disable', nodes[1]);
  await agent.register(job('moves', { group, task: { ...idle, KillTimeout: '2s' } }));
  const before = await running('moves', 3, nodes[0]);
  await agent.until('/v1/job/moves/deployment', (json) => expect(json.Status).toBe('successful'));
  await agent.cli('node', 'eligibility', '-enable', nodes[1]);

  let fewest = 3;
  const over = new AbortController();
  const watching = (async () => {
    for (let index = 0; !over.signal.aborted; ) {
      const url = `/v1/job/moves/allocations?index=${index}&wait=200ms`;
      const { json, headers } = await agent.request('GET', url);
      index = Number(headers.get('x-scheduler-index'));
      fewest = Math.min(fewest, live(json).length);
    }
  })();
  const { code, stdout, stderr } = await agent.cli('node', 'drain', '-enable', 'first');
  over.abort();
  await watching;
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('is complete');
  expect(stdout.match(/moves\n/g)).toHaveLength(3);
  // One allocation may end before its replacement runs, but no second one meanwhile.
  expect(fewest).toBeGreaterThanOrEqual(2);

  const after = await running('moves', 3, nodes[1]);
  expect(after.map((one) => processesOf(one).length > 0)).toEqual([true, true, true]);
  await eventually(() => expect(before.flatMap(processesOf)).toEqual([]));
  expect(await agent.get(`/v1/node/${nodes[0]}`)).toMatchObject({
    Drain: false,
    SchedulingEligibility: 'ineligible',
    LastDrain: { Status: 'complete' },
  });

  // The node is made eligible again, and a forced drain in the other direction works too.
  await agent.cli('node', 'eligibility', '-enable', 'first');
  const forced = await agent.cli('node', 'drain', '-enable', '-force', 'second');
  expect(forced.code).toBe(0);
  await running('moves', 3, nodes[0]);
  await agent.cli('node', 'eligibility', '-enable', 'second');
  await agent.cli('job', 'stop', '-purge', 'moves');
});

test('a requested restart starts a new process and does not count as a failure', async () => {
  const RestartPolicy = { Attempts: 0, Mode: 'fail' };
  await agent.register(job('restarts', { group: { RestartPolicy }, task: idle }));
  const [one] = await running('restarts', 1);
  const pidsOf = () => processesOf(one!);
  const before = pidsOf();
  const { code, stdout, stderr } = await agent.cli('alloc', 'restart', one!.ID.slice(0, 8), 'task');
  expect([stderr, code, stdout]).toEqual([
    '',
    0,
    expect.stringMatching(/being restarted\.\n {2}task {2}running/),
  ]);
  const after = await agent.get(`/v1/allocation/${one!.ID}`);
  expect(taskOf(after)).toMatchObject({ State: 'running', Failed: false, Restarts: 1 });
  expect(eventTypes(after)).toContain('Restart Signaled');
  await eventually(() => {
    expect(pidsOf().length).toBeGreaterThan(0);
    expect(pidsOf()).not.toEqual(before);
  });
  expect(await agent.cli('alloc', 'signal', '-s', 'SIGNONE', one!.ID)).toMatchObject({ code: 1 });
  await agent.cli('job', 'stop', '-purge', 'restarts');
});

test('a purged node stops its allocations and joins again', async () => {
  await agent.cli('node', 'eligibility', '-disable', 'first');
  await agent.register(job('purged', { task: { ...idle, KillTimeout: '1s' } }));
  const [one] = await running('purged', 1, nodes[1]);
  await agent.cli('node', 'eligibility', '-enable', 'first');
  const { code } = await agent.cli('node', 'purge', 'second');
  expect(code).toBe(0);
  await agent.until(`/v1/allocation/${one!.ID}`, (json) => expect(json.ClientStatus).toBe('lost'));
  const [next] = await running('purged', 1);
  expect(next!.PreviousAllocation).toBe(one!.ID);
  // It presents its introduction token again, learns that its allocation is gone, and stops it.
  await eventually(async () => {
    const { json } = await agent.request('GET', `/v1/node/${nodes[1]}`);
    expect(json.Status).toBe('ready');
  });
  await eventually(() => expect(processesOf(one!)).toEqual([]));
});

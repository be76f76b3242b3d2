/** A node's choice of drivers. Tasks of a driver that is disabled later continue. */
import { afterAll, expect, test } from 'vitest';
import { createAgent } from '../../src/agent.ts';
import {
  type Agent,
  endAgents,
  eventually,
  kill,
  newDirectory,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, eventTypes, idle, job, shell } from '../support/jobs.ts';

afterAll(endAgents);

const reason = 'not allowed on this node: drivers.allow';
const running = (agent: Agent, id: string): Promise<Allocation> =>
  agent.until(`/v1/job/${id}/allocations`, (all: Allocation[]) => {
    expect(all).toMatchObject([{ ClientStatus: 'running' }]);
    return all[0]!;
  });

test.each([
  ['by default', {}, false],
  ['where it is named', { drivers: { allow: ['raw_exec'] } }, true],
])('an embedded agent has raw_exec %s: %j', async (_, options, Detected) => {
  const http = { host: '127.0.0.1', port: 0 };
  const agent = await createAgent({ http, aclEnabled: false, node: {}, ...options });
  try {
    await eventually(async () => {
      const nodes = await (await fetch(`${agent.address}/v1/nodes`)).json();
      expect(nodes).toMatchObject([{ Drivers: { raw_exec: { Detected } } }]);
    });
  } finally {
    await agent.close('stop');
  }
});

test('after raw_exec is disabled, running tasks continue and no more are started', async () => {
  const dataDirectory = newDirectory();
  const args = ['--tasks-on-exit', 'keep'];
  const first = await startAgent({ dataDirectory, args });
  await first.register(job('service', { task: idle }));
  await first.register(job('everywhere', { job: { Type: 'system' }, task: idle }));
  const kept = [await running(first, 'service'), await running(first, 'everywhere')];
  const pids = kept.map((allocation) => processesOf(allocation));
  await first.stop();

  const second = await startAgent({ dataDirectory, args: [...args, '--allow-drivers', 'exec'] });
  await second.until('/v1/nodes', ([node]) =>
    expect(node).toMatchObject({
      Status: 'ready',
      Drivers: { raw_exec: { Detected: false, HealthDescription: reason } },
    }),
  );
  const status = await second.cli('node', 'status', kept[0]!.NodeID);
  expect(status.stdout).toMatch(new RegExp(`raw_exec +false +false +${reason}`));
  for (const [index, { ID }] of kept.entries()) {
    const found = await second.get(`/v1/allocation/${ID}`);
    expect(found).toMatchObject({ ClientStatus: 'running', DesiredStatus: 'run' });
    expect(processesOf(found)).toEqual(pids[index]);
  }
  // Commands in tasks without isolation need a further permission, whether the driver is enabled or
  // not.
  expect((await second.cli('alloc', 'exec', kept[0]!.ID, '/bin/true')).code).toBe(0);

  await second.register(job('late', { task: shell('exit 0') }));
  await second.until('/v1/job/late/evaluations', (all) =>
    expect(all.map(({ Status }: { Status: string }) => Status)).toContain('blocked'),
  );
  for (const words of ['job why-not late', 'job status late']) {
    expect((await second.cli(...words.split(' '))).stdout).toContain(
      `missing driver raw_exec: ${reason}`,
    );
  }

  for (const pid of pids[0]!) kill(pid, 'SIGKILL');
  const ended = await second.until(`/v1/allocation/${kept[0]!.ID}`, (allocation: Allocation) => {
    expect(allocation.ClientStatus).toBe('failed');
    return allocation;
  });
  expect(eventTypes(ended)).toContain('Driver Failure');
  await eventually(() => expect(processesOf(kept[0]!)).toEqual([]));
  // It also stops tasks of an earlier agent.
  await second.request('DELETE', '/v1/job/everywhere');
  await eventually(() => expect(processesOf(kept[1]!)).toEqual([]));
  // The agent knows it as well, and ends its supervisor, which has no task any more.
  await second.until(`/v1/allocation/${kept[1]!.ID}`, (allocation: Allocation) =>
    expect(allocation.ClientStatus).toBe('complete'),
  );
});

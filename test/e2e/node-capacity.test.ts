/** A node that offers what its configuration says. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, newDirectory, startAgent } from '../support/agent.ts';
import { type Allocation, httpPort, job, once } from '../support/jobs.ts';

let agent: Agent;

beforeAll(async () => {
  const configuration = join(newDirectory('capacity'), 'node.hcl');
  writeFileSync(
    configuration,
    `node {
      address           = "127.0.0.7"
      cpu_total_compute = 2000
      memory_total_mb   = 600
      min_dynamic_port  = 23100
      max_dynamic_port  = 23101
      reserved {
        memory         = 200
        reserved_ports = "22,23100"
      }
    }
`,
  );
  agent = await startAgent({ dataDirectory: newDirectory(), args: ['--config', configuration] });
});
afterAll(endAgents);

interface Node {
  readonly ID: string;
  readonly NodeResources: object;
  readonly ReservedResources: object;
}

test('the node tells what the configuration says, and detects the rest', async () => {
  const [{ ID }] = (await agent.get('/v1/nodes')) as [Node];
  const node = (await agent.get(`/v1/node/${ID}`)) as Node;
  expect(node.NodeResources).toMatchObject({
    Cpu: { CpuShares: 2000 },
    Memory: { MemoryMB: 600 },
    Disk: { DiskMB: expect.any(Number) },
    Networks: [{ IP: '127.0.0.7' }],
    MinDynamicPort: 23_100,
    MaxDynamicPort: 23_101,
  });
  expect(node.ReservedResources).toEqual({
    Cpu: { CpuShares: 0 },
    Memory: { MemoryMB: 200 },
    Disk: { DiskMB: 0 },
    Networks: { ReservedHostPorts: '22,23100' },
  });
});

const task = { Driver: 'raw_exec', Config: { command: 'true' } };

test('a task gets the only port that is left, at the address of the node', async () => {
  const group = { ...once, Networks: httpPort };
  const words = { command: '/bin/sh', args: ['-c', 'echo "$ROSTER_ADDR_http"'] };
  await agent.register(
    job('port', { job: { Type: 'batch' }, group, task: { ...task, Config: words } }),
  );
  const done = await agent.until('/v1/job/port/allocations', (all: Allocation[]) => {
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(['complete']);
    return all[0]!;
  });
  expect((await agent.cli('alloc', 'logs', done.ID)).stdout).toBe('127.0.0.7:23101\n');
});

test('no task gets the memory that is reserved', async () => {
  const resources = { CPU: 100, MemoryMB: 450 };
  await agent.register(job('large', { group: once, task: { ...task, Resources: resources } }));
  const dimensions = await agent.until('/v1/job/large/evaluations', (all: readonly Failed[]) => {
    const failed = all.find(({ FailedTGAllocs }) => Object.keys(FailedTGAllocs ?? {}).length > 0);
    expect(failed).toBeDefined();
    return Object.values(failed!.FailedTGAllocs!).map((metric) => metric.DimensionExhausted);
  });
  expect(dimensions).toEqual([{ memory: 1 }]);
});

interface Failed {
  readonly FailedTGAllocs: Readonly<Record<string, { readonly DimensionExhausted: object }>> | null;
}

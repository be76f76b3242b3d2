import { randomUUID } from 'node:crypto';
import { until } from './benchmark.ts';
import { limits } from './limits.ts';
import { call, gauges, type Target } from './target.ts';

/** The jobs and nodes of the benchmarks, and functions that wait for their state. */

export interface JobOptions {
  readonly count: number;
  readonly command?: string;
  readonly arguments?: readonly string[];
  /** Its datacenters; the default is any. */
  readonly datacenter?: string;
  /** The only class of nodes that it runs on. */
  readonly nodeClass?: string;
}

/** A group of a task with 1 MHz and 10 MB, which is the minimum. */
export function smallJob(id: string, options: JobOptions) {
  const { count, command = '/bin/sleep', arguments: args = ['600'], datacenter = '*' } = options;
  return {
    Job: {
      ID: id,
      Type: 'service',
      Datacenters: [datacenter],
      Constraints: constraintsOf(options),
      TaskGroups: [
        {
          Name: 'group',
          Count: count,
          Tasks: [
            {
              Name: 'task',
              Driver: 'raw_exec',
              Config: { command, args },
              Resources: { CPU: 1, MemoryMB: 10 },
            },
          ],
        },
      ],
    },
  };
}

/** A job of the smallest possible tasks, so that many of them fit on a node. */
export const tinyJob = (id: string, count: number) => ({
  Job: {
    ID: id,
    Type: 'service',
    Datacenters: ['*'],
    TaskGroups: [
      {
        Name: 'group',
        Count: count,
        EphemeralDisk: { SizeMB: 10 },
        Update: { MaxParallel: 0 },
        Tasks: [
          {
            Name: 'task',
            Driver: 'raw_exec',
            Config: { command: '/bin/sleep', args: ['86400'] },
            Resources: { CPU: 1, MemoryMB: 10 },
            LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
          },
        ],
      },
    ],
  },
});

function constraintsOf({ nodeClass }: JobOptions) {
  if (nodeClass === undefined) return [];
  return [{ LTarget: '${node.class}', RTarget: nodeClass, Operand: '=' }];
}

export const jobPath = (id: string): string => `/v1/job/${id}`;

export const purge = (target: Target, id: string) =>
  call(target, 'DELETE', `${jobPath(id)}?purge=true`);

/** Between blocking queries, which wait by themselves: a pause would be added to what is measured. */
export const noPause = 0;

const settledStatuses = ['complete', 'blocked', 'canceled', 'failed'];

/** Resolves when the job no longer changes by itself. */
export async function settled(target: Target, id: string): Promise<void> {
  type Evaluations = readonly { readonly Status: string }[];
  let index = 0;
  const look = async () => {
    const path = `${jobPath(id)}/evaluations?index=${index}&wait=5s`;
    const found = await call<Evaluations>(target, 'GET', path);
    index = found.index;
    const done = found.value.every(({ Status }) => settledStatuses.includes(Status));
    return done && found.value.length > 0 ? true : undefined;
  };
  await until(`that job ${id} is evaluated`, look, noPause);
}

interface JobSummary {
  readonly Summary: { readonly group?: { readonly Running: number } };
}

/** Resolves when this many instances of the job run. */
export async function running(target: Target, id: string, count: number): Promise<void> {
  let index = 0;
  const look = async () => {
    const path = `${jobPath(id)}/summary?index=${index}&wait=10s`;
    const { value, index: seen } = await call<JobSummary>(target, 'GET', path);
    index = seen;
    return value.Summary.group?.Running === count ? true : undefined;
  };
  await until(`that ${count} instances of ${id} run`, look, noPause);
}

/** Resolves when no evaluation waits for the scheduler. */
export function drained(target: Target, lookAgainMs?: number): Promise<true> {
  const isDrained = async () => {
    const path = '/v1/evaluations?status=pending&per_page=1';
    const { value } = await call<readonly unknown[]>(target, 'GET', path);
    // Metrics are asked for last, since with many nodes and jobs they take a time that would be measured.
    if (value.length > 0) return undefined;
    const found = await gauges(target);
    const waiting = found['evaluation_queue ready']! + found['evaluation_queue waiting']!;
    return waiting === 0 ? true : undefined;
  };
  return until('that the evaluations are drained', isDrained, lookAgainMs);
}

interface NodeFacts {
  readonly ID: string;
  readonly Name: string;
  readonly Status: string;
}

/** Resolves with the first node that takes work. */
export function readyNode(target: Target): Promise<NodeFacts> {
  return until('a node that is ready', async () => {
    const { value } = await call<readonly NodeFacts[]>(target, 'GET', '/v1/nodes');
    return value.find(({ Status }) => Status === 'ready');
  });
}

export interface RoomyNode {
  readonly name: string;
  /** Ends its heartbeats. */
  readonly leave: () => void;
}

interface NodeDescription {
  readonly Attributes: object;
  readonly Drivers: object;
  readonly Meta: object;
  readonly NodeClass: string;
  readonly NodePool: string;
  readonly NodeResources: { readonly Cpu: object; readonly Memory: object; readonly Disk: object };
  readonly ReservedResources: Record<'Cpu' | 'Memory' | 'Disk', object>;
}

export const paperDatacenter = 'paper';

export interface PaperFleet {
  readonly members: readonly { readonly id: string; readonly secret: string }[];
  /** Ends its heartbeats. */
  readonly leave: () => void;
}

/**
 * Registers nodes without a machine, each with room for a given number of small jobs. The server places allocations on
 * them, but no task starts that would share the machine with the server.
 */
export async function joinPaperFleet(
  target: Target,
  { nodes, jobsEach }: { readonly nodes: number; readonly jobsEach: number },
): Promise<PaperFleet> {
  const description = await paperDescription(target, jobsEach);
  const members = Array.from({ length: nodes }, () => ({ id: randomUUID(), secret: randomUUID() }));
  // The time grows with the fleet.
  let leaseMs = 0;
  const register = async (number: number) => {
    const { id: ID, secret: SecretID } = members[number]!;
    const Node = { ...description, ID, Name: `paper-${ID}` };
    const body = { Node, SecretID };
    const { value } = await call<Lease>(target, 'PUT', '/v1/node/register', body);
    leaseMs = Math.max(leaseMs, value.HeartbeatTTL / 1e6);
  };
  // One after another, the first would miss their time before the last has joined.
  let next = 0;
  const registerInTurn = async () => {
    while (next < nodes) await register(next++);
  };
  await Promise.all(Array.from({ length: limits.joiningAtOnce }, registerInTurn));
  const beat = ({ id }: PaperFleet['members'][number]) =>
    call(target, 'PUT', `/v1/node/${id}/heartbeat`);
  // The first nodes received a shorter time.
  await Promise.all(members.map(beat));
  let beats = 0;
  // The heartbeats are spread over time, like those of nodes that joined one after another.
  const timer = setInterval(
    () => void beat(members[beats++ % nodes]!).catch(() => {}),
    leaseMs / 2 / nodes,
  );
  return { members, leave: () => clearInterval(timer) };
}

/** A node like the agent's own, with room for a given number of small jobs. It lacks an id and a name. */
export async function paperDescription(target: Target, jobsEach: number) {
  const { ID: model } = await readyNode(target);
  const { value: node } = await call<NodeDescription>(target, 'GET', `/v1/node/${model}`);
  const { NodeResources: all, ReservedResources: reserved } = node;
  return {
    ...told(node),
    Datacenter: paperDatacenter,
    NodeResources: {
      ...all,
      Cpu: { ...all.Cpu, CpuShares: jobsEach },
      Memory: { ...all.Memory, MemoryMB: jobsEach * 10 },
      Disk: { ...all.Disk, DiskMB: jobsEach * 300 },
    },
    ReservedResources: {
      ...reserved,
      Cpu: { ...reserved.Cpu, CpuShares: 0 },
      Memory: { ...reserved.Memory, MemoryMB: 0 },
      Disk: { ...reserved.Disk, DiskMB: 0 },
    },
  };
}

/** The fields of a node's registration; the servers write the others. */
function told({ Attributes, Drivers, Meta, NodeClass, NodePool }: NodeDescription) {
  return { Attributes, Drivers, Meta, NodeClass, NodePool };
}

interface Lease {
  /** Nanoseconds. */
  readonly HeartbeatTTL: number;
}

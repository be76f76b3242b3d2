/** A cluster in memory that plans are applied to, for the tests of this folder. */
import { instantFromMs } from '../base/instant.ts';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { type Allocation, AllocationSchema } from '../model/allocation/allocation.ts';
import { complete } from '../model/complete.ts';
import { type Evaluation, EvaluationSchema } from '../model/evaluation/evaluation.ts';
import { canonicalizeJob } from '../model/job/canonicalize.ts';
import type { Job, JobInput } from '../model/job/job.ts';
import { computedClass } from '../model/node/computed-class.ts';
import { type Node, NodeSchema } from '../model/node/node.ts';
import type { Plan } from '../model/plan/plan.ts';
import type { Input } from '../model/schema.ts';
import { schedule } from './schedule.ts';
import type { ClusterView, SchedulerConfiguration, SchedulerResult } from './view.ts';

export const startMs = Date.UTC(2026, 0, 1);

type GroupInput = NonNullable<NonNullable<JobInput['TaskGroups']>[number]>;
type TaskInput = NonNullable<NonNullable<GroupInput['Tasks']>[number]>;

export const makeTask = (fields: TaskInput = {}): TaskInput => ({
  Name: 'server',
  Driver: 'raw_exec',
  ...fields,
  Resources: { CPU: 100, MemoryMB: 100, ...fields.Resources },
});

export const makeGroup = (fields: GroupInput = {}): GroupInput => ({
  Name: 'web',
  Tasks: [makeTask()],
  EphemeralDisk: { SizeMB: 10 },
  ...fields,
});

export const makeJob = (fields: JobInput = {}, version = 0, createIndex = 10): Job => ({
  ...canonicalizeJob({ ID: 'job', TaskGroups: [makeGroup()], ...fields }),
  Version: version,
  CreateIndex: createIndex,
  ModifyIndex: createIndex + version,
  JobModifyIndex: createIndex + version,
});

export interface NodeWish extends Omit<Input<Node>, 'Drivers'> {
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
  readonly cores?: readonly number[];
  readonly ports?: readonly [number, number];
  readonly reservedPorts?: string;
}

export function makeNode(ID: string, wish: NodeWish = {}): Node {
  const {
    cpu = 1000,
    memory = 1000,
    disk = 1000,
    cores = [],
    ports,
    reservedPorts,
    ...fields
  } = wish;
  const node = complete(NodeSchema, {
    ID,
    Name: `name-${ID}`,
    Status: 'ready',
    NodeResources: {
      Cpu: { CpuShares: cpu, TotalCpuCores: 4, ReservableCpuCores: cores },
      Memory: { MemoryMB: memory },
      Disk: { DiskMB: disk },
      Networks: [{ Mode: 'host', Device: 'eth0', IP: '10.0.0.1' }],
      MinDynamicPort: ports?.[0] ?? 20_000,
      MaxDynamicPort: ports?.[1] ?? 32_000,
    },
    ReservedResources: { Networks: { ReservedHostPorts: reservedPorts ?? '' } },
    Drivers: { raw_exec: { Detected: true, Healthy: true } },
    ...fields,
  }) as Node;
  return { ...node, ComputedClass: computedClass(node) };
}

export const makeEvaluation = (fields: Input<Evaluation> = {}): Evaluation =>
  complete(EvaluationSchema, {
    ID: 'evaluation-1',
    Namespace: 'default',
    Type: 'service',
    JobID: 'job',
    Priority: 50,
    ...fields,
  }) as Evaluation;

export class TestCluster implements ClusterView {
  readonly index = 100;
  configuration: SchedulerConfiguration = { algorithm: 'binpack' };
  nowMs = startMs;
  readonly #ids = new SimulatedWorld(1).ids;
  readonly #jobs = new Map<string, Job>();
  readonly #versions = new Map<string, Job>();
  readonly #nodes = new Map<string, Node>();
  readonly #allocations = new Map<string, Allocation>();

  constructor(nodes: readonly Node[] = []) {
    for (const node of nodes) this.putNode(node);
  }

  putNode(node: Node): void {
    this.#nodes.set(node.ID, node);
  }

  dropNode(id: string): void {
    this.#nodes.delete(id);
  }

  putJob(job: Job): void {
    this.#jobs.set(job.ID, job);
    this.#versions.set(`${job.ID} ${job.Version}`, job);
  }

  dropJob(id: string): void {
    this.#jobs.delete(id);
  }

  putAllocation(allocation: Allocation): void {
    this.#allocations.set(allocation.ID, allocation);
  }

  change(id: string, fields: Partial<Allocation>): void {
    this.#allocations.set(id, { ...this.#allocations.get(id)!, ...fields });
  }

  get allocations(): readonly Allocation[] {
    return [...this.#allocations.values()];
  }

  job(_namespace: string, id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  jobVersion(_namespace: string, id: string, version: number): Job | undefined {
    return this.#versions.get(`${id} ${version}`);
  }

  allocationsOfJob(_namespace: string, jobId: string): Iterable<Allocation> {
    return this.allocations.filter((allocation) => allocation.JobID === jobId);
  }

  node(id: string): Node | undefined {
    return this.#nodes.get(id);
  }

  nodes(): Iterable<Node> {
    return [...this.#nodes.values()].sort((left, right) => (left.ID < right.ID ? -1 : 1));
  }

  allocationsOnNode(nodeId: string): Iterable<Allocation> {
    return this.allocations.filter((allocation) => allocation.NodeID === nodeId);
  }

  decide(fields: Input<Evaluation> = {}): SchedulerResult {
    return schedule(this, makeEvaluation(fields), { nowMs: this.nowMs, ids: this.#ids });
  }

  /** Decides and applies; with `runs`, what was placed is reported as running. */
  run(fields: Input<Evaluation> = {}, runs = true): SchedulerResult {
    const result = this.decide(fields);
    this.apply(result.plan, runs);
    return result;
  }

  apply(plan: Plan, runs = true): void {
    for (const stop of plan.stops) {
      this.change(stop.allocationId, {
        DesiredStatus: stop.desiredStatus,
        DesiredDescription: stop.desiredDescription,
        ...(stop.clientStatus ? { ClientStatus: stop.clientStatus } : {}),
        ...(stop.followupEvaluationId ? { FollowupEvalID: stop.followupEvaluationId } : {}),
      });
    }
    for (const update of plan.inPlaceUpdates) this.putAllocation(update);
    for (const placement of plan.placements) {
      this.putAllocation({
        ...complete(AllocationSchema, placement),
        ...placement,
        ...(runs ? { ClientStatus: 'running' } : {}),
      } as Allocation);
    }
  }

  /** Stopped ones end. */
  settle(): void {
    for (const { ID, DesiredStatus, ClientStatus } of this.allocations) {
      const runs = ClientStatus === 'running' || ClientStatus === 'pending';
      if (DesiredStatus !== 'run' && runs) this.change(ID, { ClientStatus: 'complete' });
    }
  }

  fail(id: string, atMs = this.nowMs): void {
    this.change(id, { ClientStatus: 'failed', ModifyTime: instantFromMs(atMs) });
  }

  live(): readonly Allocation[] {
    return this.allocations.filter(
      (one) =>
        one.DesiredStatus === 'run' &&
        (one.ClientStatus === 'running' || one.ClientStatus === 'pending'),
    );
  }

  liveNames(): readonly string[] {
    return this.live()
      .map((one) => one.Name)
      .sort();
  }

  named(name: string): Allocation {
    return this.live().find((one) => one.Name === name)!;
  }
}

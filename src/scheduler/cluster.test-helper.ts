/** A cluster in memory that applies plans, for the tests of this folder. */
import { instantFromMs } from '../base/instant.ts';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { type Allocation, AllocationSchema } from '../model/allocation/allocation.ts';
import { complete } from '../model/complete.ts';
import type { Deployment, DeploymentGroup } from '../model/deployment/deployment.ts';
import { type Evaluation, EvaluationSchema } from '../model/evaluation/evaluation.ts';
import { canonicalizeJob } from '../model/job/canonicalize.ts';
import type { Job, JobInput } from '../model/job/job.ts';
import { computedClass } from '../model/node/computed-class.ts';
import type { NodeDevice } from '../model/node/device.ts';
import { type Node, NodeSchema } from '../model/node/node.ts';
import type { Plan } from '../model/plan/plan.ts';
import type { Input } from '../model/schema.ts';
import { schedule } from './schedule.ts';
import {
  type ClusterView,
  type Proposed,
  type SchedulerConfiguration,
  type SchedulerResult,
  schedulerDefaults,
} from './view.ts';

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
  readonly devices?: readonly Input<NodeDevice>[];
}

export function makeNode(ID: string, wish: NodeWish = {}): Node {
  const {
    cpu = 1000,
    memory = 1000,
    disk = 1000,
    cores = [],
    ports,
    reservedPorts,
    devices = [],
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
      Devices: devices,
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
  configuration: SchedulerConfiguration = schedulerDefaults;
  nowMs = startMs;
  readonly #ids = new SimulatedWorld(1).ids;
  readonly #jobs = new Map<string, Job>();
  readonly #versions = new Map<string, Job>();
  readonly #nodes = new Map<string, Node>();
  readonly #allocations = new Map<string, Allocation>();
  readonly #deployments = new Map<string, Deployment>();
  /** Ids of evaluations that plans created and that were not decided yet. */
  readonly #evaluations = new Set<string>();
  #placed = 0;

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

  putDeployment(deployment: Deployment): void {
    this.#deployments.set(deployment.ID, deployment);
  }

  get deployments(): readonly Deployment[] {
    return [...this.#deployments.values()];
  }

  deploymentsOfJob(_namespace: string, jobId: string): Iterable<Deployment> {
    return this.deployments.filter((deployment) => deployment.JobID === jobId);
  }

  isOver(_namespace: string, evaluationId: string): boolean {
    return !this.#evaluations.has(evaluationId);
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

  /** Decides and applies; with `runs`, reports the placements as running. */
  run(fields: Input<Evaluation> = {}, runs = true): SchedulerResult {
    const result = this.decide(fields);
    this.apply(result.plan, runs);
    if (result.outcome.status !== 'blocked') this.end(makeEvaluation(fields).ID);
    return result;
  }

  /** Ends an evaluation, as if another evaluation had replaced it. */
  end(evaluationId: string): void {
    this.#evaluations.delete(evaluationId);
  }

  apply(plan: Plan, runs = true): void {
    const now = instantFromMs(this.nowMs);
    for (const stop of plan.stops) {
      const { RescheduleTracker, AllocStates } = this.allocation(stop.allocationId);
      const Value = stop.clientStatus;
      this.change(stop.allocationId, {
        DesiredStatus: stop.desiredStatus,
        DesiredDescription: stop.desiredDescription,
        ...(Value && {
          ClientStatus: Value,
          AllocStates: [...(AllocStates ?? []), { Field: 'ClientStatus', Value, Time: now }],
        }),
        ...(stop.followupEvaluationId !== undefined && {
          FollowupEvalID: stop.followupEvaluationId,
        }),
        ...(stop.lastReschedule && {
          RescheduleTracker: {
            Events: RescheduleTracker?.Events ?? null,
            LastReschedule: stop.lastReschedule,
          },
        }),
      });
    }
    for (const { allocationId, byAllocationId } of plan.preemptions) {
      this.change(allocationId, {
        DesiredStatus: 'evict',
        PreemptedByAllocation: byAllocationId,
      });
    }
    const { deployment } = plan;
    if (deployment) this.putDeployment({ ...deployment, CreateIndex: 1, ModifyIndex: 1 });
    for (const update of plan.inPlaceUpdates) {
      const isNew = update.DeploymentID !== this.allocation(update.ID).DeploymentID;
      this.putAllocation(update);
      if (isNew) this.#joinDeployment(update);
    }
    for (const placement of plan.placements) {
      this.putAllocation({
        ...complete(AllocationSchema, placement),
        ...placement,
        ...(runs ? { ClientStatus: 'running' } : {}),
        CreateIndex: ++this.#placed,
      } as Allocation);
      this.#joinDeployment(placement);
      const previous = this.#allocations.get(placement.PreviousAllocation);
      if (previous) this.change(previous.ID, { NextAllocation: placement.ID });
    }
    for (const { ID } of plan.evaluations) this.#evaluations.add(ID);
    for (const { ID, Status, StatusDescription } of plan.deploymentUpdates) {
      this.putDeployment({ ...this.#deployments.get(ID)!, Status, StatusDescription });
    }
  }

  #joinDeployment({ ID, DeploymentID, DeploymentStatus, TaskGroup }: Proposed<Allocation>): void {
    this.changeEntry(DeploymentID, TaskGroup, ({ PlacedAllocs, PlacedCanaries }) => ({
      PlacedAllocs: PlacedAllocs + 1,
      PlacedCanaries: DeploymentStatus?.Canary ? [...(PlacedCanaries ?? []), ID] : PlacedCanaries,
    }));
  }

  /** The deployment's entry of a group. */
  changeEntry(
    id: string,
    group: string,
    change: (entry: DeploymentGroup) => Partial<DeploymentGroup>,
  ): void {
    const deployment = this.#deployments.get(id);
    const entry = deployment?.TaskGroups[group];
    if (deployment === undefined || entry === undefined) return;
    const changed = { [group]: { ...entry, ...change(entry) } };
    this.putDeployment({
      ...deployment,
      TaskGroups: { ...deployment.TaskGroups, ...changed },
    });
  }

  /** Reports an allocation's health, as its node does. */
  report(id: string, isHealthy: boolean): void {
    const { DeploymentID, DeploymentStatus, TaskGroup } = this.allocation(id);
    const Canary = DeploymentStatus?.Canary ?? false;
    this.change(id, {
      DeploymentStatus: { Healthy: isHealthy, Timestamp: null, Canary, ModifyIndex: 0 },
    });
    this.changeEntry(DeploymentID, TaskGroup, ({ HealthyAllocs, UnhealthyAllocs }) => ({
      HealthyAllocs: HealthyAllocs + (isHealthy ? 1 : 0),
      UnhealthyAllocs: UnhealthyAllocs + (isHealthy ? 0 : 1),
    }));
  }

  /** Reports all running allocations as healthy. */
  allHealthy(): void {
    for (const { ID, DeploymentStatus } of this.live()) {
      if (DeploymentStatus?.Healthy == null) this.report(ID, true);
    }
  }

  /** Promotes the canaries of all groups. */
  promote(id: string): void {
    for (const group of Object.keys(this.#deployments.get(id)!.TaskGroups)) {
      this.changeEntry(id, group, () => ({ Promoted: true }));
    }
    for (const { ID, DeploymentID, DeploymentStatus } of this.allocations) {
      if (DeploymentID !== id || !DeploymentStatus?.Canary) continue;
      this.change(ID, { DeploymentStatus: { ...DeploymentStatus, Canary: false } });
    }
  }

  allocation(id: string): Allocation {
    return this.#allocations.get(id)!;
  }

  /** Ends the stopped allocations. */
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

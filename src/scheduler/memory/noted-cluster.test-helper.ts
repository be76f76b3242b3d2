/** A cluster in memory that notes every change in a scheduler's memory, as the state does. */
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import { allocations, nodes } from '../../state/tables.ts';
import type { Change } from '../../state/types.ts';
import { type ClusterView, type SchedulerConfiguration, schedulerDefaults } from '../view.ts';
import { SchedulerMemory } from './memory.ts';

export class NotedCluster implements ClusterView {
  readonly memory: SchedulerMemory;
  configuration: SchedulerConfiguration = schedulerDefaults;
  index = 1;
  readonly #nodes = new Map<string, Node>();
  readonly #jobs = new Map<string, Job>();
  readonly #allocations = new Map<string, Allocation>();

  constructor(memory = new SchedulerMemory()) {
    this.memory = memory;
  }

  putNode(node: Node): void {
    const before = this.#nodes.get(node.ID);
    this.#nodes.set(node.ID, node);
    this.#noteChanges([{ table: nodes.name, before, after: node }]);
  }

  dropNode(id: string): void {
    const before = this.#nodes.get(id);
    if (before === undefined) return;
    this.#nodes.delete(id);
    this.#noteChanges([{ table: nodes.name, before, after: undefined }]);
  }

  putJob(job: Job): void {
    this.#jobs.set(job.ID, job);
    this.#noteChanges([]);
  }

  putAllocations(list: readonly Allocation[]): void {
    const changes = list.map((after): Change => {
      const before = this.#allocations.get(after.ID);
      this.#allocations.set(after.ID, after);
      return { table: allocations.name, before, after };
    });
    this.#noteChanges(changes);
  }

  dropAllocation(id: string): void {
    const before = this.#allocations.get(id);
    if (before === undefined) return;
    this.#allocations.delete(id);
    this.#noteChanges([{ table: allocations.name, before, after: undefined }]);
  }

  get allocations(): readonly Allocation[] {
    return [...this.#allocations.values()];
  }

  job(_namespace: string, id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  jobVersion(): undefined {
    return undefined;
  }

  allocationsOfJob(_namespace: string, jobId: string): readonly Allocation[] {
    return this.allocations.filter((one) => one.JobID === jobId);
  }

  deploymentsOfJob(): readonly [] {
    return [];
  }

  /** The cluster keeps no evaluations. */
  isOver(): boolean {
    return true;
  }

  node(id: string): Node | undefined {
    return this.#nodes.get(id);
  }

  nodes(): readonly Node[] {
    return [...this.#nodes.values()].sort((left, right) => (left.ID < right.ID ? -1 : 1));
  }

  allocationsOnNode(nodeId: string): readonly Allocation[] {
    return this.allocations.filter((one) => one.NodeID === nodeId);
  }

  #noteChanges(changes: readonly Change[]): void {
    this.index++;
    this.memory.noteChanges(changes, this.index);
  }
}

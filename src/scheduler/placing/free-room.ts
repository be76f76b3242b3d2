/**
 * Estimates whether a blocked job may fit on a node, cheaply enough to ask for every blocked job. The
 * estimate may be wrongly positive, never wrongly negative; the scheduler decides.
 */
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import { askOf, capacityOf, type Need, needOf } from '../fitting/resources.ts';
import type { ClusterView } from '../view.ts';
import { type Evictable, EvictionRanks, evictedUpTo } from './preempt.ts';

/** The least that a blocked job needs. */
export interface JobNeed {
  readonly need: Need;
  /** The highest priority of its victims, if its type may evict. */
  readonly evictsUpTo: number;
}

export const jobNeedOf = (job: Job | undefined): JobNeed =>
  job === undefined
    ? { need: nothing, evictsUpTo: 0 }
    : { need: leastNeed(job), evictsUpTo: evictedUpTo(job) };

/** The smallest need of each resource over all groups of the job. */
function leastNeed(job: Job): Need {
  let least: Need | undefined;
  for (const group of job.TaskGroups) {
    const ask = askOf(group);
    const need = needOf(ask.template);
    // With cores the CPU need depends on the node.
    least = smaller(ask.cores > 0 ? { ...need, cpu: 0 } : need, least ?? need);
  }
  return least ?? nothing;
}

const nothing: Need = { cpu: 0, memory: 0, disk: 0, cores: 0 };

const smaller = (left: Need, right: Need): Need => ({
  cpu: Math.min(left.cpu, right.cpu),
  memory: Math.min(left.memory, right.memory),
  disk: Math.min(left.disk, right.disk),
  cores: Math.min(left.cores, right.cores),
});

/** The free resources of a node, less those reserved for blocked jobs since. */
export class FreeRoom {
  readonly #free: { cpu: number; memory: number; disk: number };
  /** Jobs with allocations on the node, which they may replace there. */
  readonly #jobs = new Set<string>();
  readonly #view: ClusterView;
  readonly #nodeId: string;
  /** The allocations meant to run on the node, with priorities; built on first use. */
  #ranked: readonly Evictable[] | undefined;

  constructor(view: ClusterView, node: Node) {
    const { cpu, memory, disk } = capacityOf(node);
    this.#free = { cpu, memory, disk };
    this.#view = view;
    this.#nodeId = node.ID;
    for (const allocation of view.allocationsOnNode(node.ID)) {
      if (holdsResources(allocation)) this.reserve(needOf(allocation.AllocatedResources));
      this.#jobs.add(jobKey(allocation.Namespace, allocation.JobID));
    }
  }

  mayTake(namespace: string, jobId: string, need: Need): boolean {
    return isWithin(need, this.#free) || this.#jobs.has(jobKey(namespace, jobId));
  }

  /** Whether the job may fit after evictions. */
  mayTakeByEviction({ need, evictsUpTo }: JobNeed): boolean {
    const free = { ...this.#free };
    for (const { allocation, priority } of this.#occupants()) {
      if (priority > evictsUpTo) continue;
      const held = needOf(allocation.AllocatedResources);
      free.cpu += held.cpu;
      free.memory += held.memory;
      free.disk += held.disk;
    }
    return isWithin(need, free);
  }

  #occupants(): readonly Evictable[] {
    if (this.#ranked === undefined) {
      const ranks = new EvictionRanks(this.#view);
      this.#ranked = [...this.#view.allocationsOnNode(this.#nodeId)]
        .filter((one) => one.DesiredStatus === 'run' && holdsResources(one))
        .flatMap((one) => ranks.of(one) ?? []);
    }
    return this.#ranked;
  }

  reserve(need: Need): void {
    this.#free.cpu -= need.cpu;
    this.#free.memory -= need.memory;
    this.#free.disk -= need.disk;
  }
}

const isWithin = (need: Need, free: Pick<Need, 'cpu' | 'memory' | 'disk'>): boolean =>
  need.cpu <= free.cpu && need.memory <= free.memory && need.disk <= free.disk;

const jobKey = (namespace: string, jobId: string): string => `${namespace}\0${jobId}`;

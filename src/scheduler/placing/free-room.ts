/**
 * A first look at who may profit from room on a node, so cheap that it can be had for every job that
 * waits. It never says no to a job that could be placed there; whether it is, the scheduler decides.
 */
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import { askOf, capacityOf, type Need, needOf } from '../fitting/resources.ts';
import type { ClusterView } from '../view.ts';
import { type Evictable, EvictionRanks, evictedUpTo } from './preempt.ts';

/** What a job that waits would take. */
export interface JobNeed {
  readonly need: Need;
  /** The highest priority that has to make way for it, where others have to at all. */
  readonly evictsUpTo: number;
}

export const jobNeedOf = (job: Job | undefined): JobNeed =>
  job === undefined
    ? { need: nothing, evictsUpTo: 0 }
    : { need: leastNeed(job), evictsUpTo: evictedUpTo(job) };

/** What one more allocation of the job needs at least, whichever group it is of. */
function leastNeed(job: Job): Need {
  let least: Need | undefined;
  for (const group of job.TaskGroups) {
    const ask = askOf(group);
    const need = needOf(ask.template);
    // Cores are asked for by number: what CPU they come with depends on the node.
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

/** What is left of a node, less what was promised of it since. */
export class FreeRoom {
  readonly #free: { cpu: number; memory: number; disk: number };
  /** Jobs that may replace what they have there, where it is. */
  readonly #jobs = new Set<string>();
  readonly #view: ClusterView;
  readonly #nodeId: string;
  /** What is to run there, and how important it is; found out when first asked for. */
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

  /** Whether it may when others make way for it. */
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

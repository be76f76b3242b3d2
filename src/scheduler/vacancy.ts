/**
 * A first look at who may profit from room on a node, so cheap that it can be had for every job that
 * waits. It never says no to a job that could be placed there; whether it is, the scheduler decides.
 */
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import { askOf, capacityOf, type Need, needOf } from './resources.ts';
import type { ClusterView } from './view.ts';

/** What one more allocation of the job needs at least, whichever group it is of. */
export function leastNeed(job: Job): Need {
  let least: Need | undefined;
  for (const group of job.TaskGroups) {
    const ask = askOf(group);
    const need = needOf(ask.template);
    // Cores are asked for by number: what CPU they come with depends on the node.
    least = smaller(ask.cores > 0 ? { ...need, cpu: 0 } : need, least ?? need);
  }
  return least ?? nothing;
}

export const nothing: Need = { cpu: 0, memory: 0, disk: 0, cores: 0 };

const smaller = (left: Need, right: Need): Need => ({
  cpu: Math.min(left.cpu, right.cpu),
  memory: Math.min(left.memory, right.memory),
  disk: Math.min(left.disk, right.disk),
  cores: Math.min(left.cores, right.cores),
});

/** What is left of a node, less what was promised of it since. */
export class Vacancy {
  readonly #free: { cpu: number; memory: number; disk: number };
  /** Jobs that may replace what they have there, where it is. */
  readonly #jobs = new Set<string>();

  constructor(view: ClusterView, node: Node) {
    const { cpu, memory, disk } = capacityOf(node);
    this.#free = { cpu, memory, disk };
    for (const allocation of view.allocationsOnNode(node.ID)) {
      this.promise(needOf(allocation.AllocatedResources));
      this.#jobs.add(jobKey(allocation.Namespace, allocation.JobID));
    }
  }

  mayTake(namespace: string, jobId: string, need: Need): boolean {
    const { cpu, memory, disk } = this.#free;
    if (need.cpu <= cpu && need.memory <= memory && need.disk <= disk) return true;
    return this.#jobs.has(jobKey(namespace, jobId));
  }

  promise(need: Need): void {
    this.#free.cpu -= need.cpu;
    this.#free.memory -= need.memory;
    this.#free.disk -= need.disk;
  }
}

const jobKey = (namespace: string, jobId: string): string => `${namespace}\0${jobId}`;

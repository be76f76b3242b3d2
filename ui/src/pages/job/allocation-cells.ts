/** What the cells of a group show: each allocation, and what is wanted but not placed. */
import Bird from '@lucide/svelte/icons/bird';
import Check from '@lucide/svelte/icons/check';
import type { Component } from 'svelte';
import type { JobStatuses } from '../../../../src/model/job/job-statuses.ts';
import { lookOf, type Tone } from '../../parts/status.ts';
import { allocationsNow } from '../jobs/job-status.ts';

export interface Cell {
  readonly id: string;
  readonly tone: Tone;
  readonly icon: Component;
  /** Of an earlier version of the job. */
  readonly isEarlier: boolean;
  readonly isCanary: boolean;
  readonly isUnhealthy: boolean;
  readonly words: string;
}

type Allocation = JobStatuses['Allocs'][number];

/** The worst first, and of the same status the newest version first. */
const order = [
  'failed',
  'lost',
  'unknown',
  'unhealthy',
  'pending',
  'checking',
  'running',
  'complete',
];

type Word = (typeof order)[number];

function wordOf({ ClientStatus, DeploymentStatus }: Allocation, isDeploying: boolean): Word {
  if (ClientStatus !== 'running') return ClientStatus;
  if (DeploymentStatus.Healthy === false) return 'unhealthy';
  return DeploymentStatus.Healthy === null && isDeploying ? 'checking' : 'running';
}

function lookOfWord(word: Word): {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: Component;
} {
  if (word === 'unhealthy') return { ...lookOf('health', 'unhealthy'), word: 'Running, unhealthy' };
  if (word === 'checking') {
    const { icon } = lookOf('health', 'unknown');
    return { icon, tone: 'info', word: 'Running, health not known yet' };
  }
  const look = lookOf('allocation', word);
  return word === 'running' || word === 'complete' ? { ...look, icon: Check } : look;
}

/** `job` has the allocations of one group, and its count. */
export function cellsOf(job: JobStatuses): readonly Cell[] {
  const deployment = job.LatestDeployment?.IsActive === true ? job.LatestDeployment : undefined;
  return allocationsNow(job)
    .map((allocation) => ({
      allocation,
      word: wordOf(allocation, deployment?.JobVersion === allocation.JobVersion),
    }))
    .toSorted(
      (left, right) =>
        order.indexOf(left.word) - order.indexOf(right.word) ||
        right.allocation.JobVersion - left.allocation.JobVersion,
    )
    .map(({ allocation, word }) => cellOf(allocation, word, job.Version));
}

function cellOf(allocation: Allocation, word: Word, version: number): Cell {
  const { ID, JobVersion, DeploymentStatus } = allocation;
  const look = lookOfWord(word);
  const isCanary = DeploymentStatus.Canary;
  return {
    id: ID,
    tone: look.tone,
    icon: isCanary && word === 'running' ? Bird : look.icon,
    isEarlier: JobVersion !== version,
    isCanary,
    isUnhealthy: word === 'unhealthy',
    words: `${ID.slice(0, 8)}: ${look.word.toLowerCase()}, version ${JobVersion}${isCanary ? ', canary' : ''}`,
  };
}

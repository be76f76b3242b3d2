/**
 * The parts of a node's score. Source: docs/behaviour/scheduling.md#scores.
 *
 * 1. The score is the mean of the parts that apply.
 * 2. Parts are added in the order of `ScorePart`, so that a sum kept step by step equals one computed
 *    from scratch to the last bit.
 */
import type { Affinity } from '../../model/constraint/constraint.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { compileOperand } from '../fitting/operands.ts';
import type { Need } from '../fitting/resources.ts';
import { isUnique } from '../fitting/target.ts';
import type { SchedulerConfiguration } from '../view.ts';

export type ScorePart =
  | 'binpack'
  | 'devices'
  | 'job-anti-affinity'
  | 'node-affinity'
  | 'node-reschedule-penalty'
  | 'allocation-spread'
  | 'preemption';

export type ScoreParts = Readonly<Partial<Record<ScorePart, number>>>;

const bestFit = 18;

const clampFit = (fit: number): number => Math.min(Math.max(fit, 0), bestFit);

/** The share of the capacity that stays free with the need added; 0 without capacity. */
export const freeShare = (used: number, need: number, capacity: number): number =>
  capacity > 0 ? 1 - (used + need) / capacity : 0;

/** For `binpack` from 0 (empty node) to 1 (full node); for `spread` the reverse. */
export function packScore(
  algorithm: SchedulerConfiguration['algorithm'],
  used: Pick<Need, 'cpu' | 'memory'>,
  need: Pick<Need, 'cpu' | 'memory'>,
  capacity: Pick<Need, 'cpu' | 'memory'>,
): number {
  return packScoreOfShares(
    algorithm,
    freeShare(used.cpu, need.cpu, capacity.cpu),
    freeShare(used.memory, need.memory, capacity.memory),
  );
}

/** {@link packScore} from the free shares of CPU and memory. */
export function packScoreOfShares(
  algorithm: SchedulerConfiguration['algorithm'],
  cpu: number,
  memory: number,
): number {
  const powers = 10 ** cpu + 10 ** memory;
  return clampFit(algorithm === 'spread' ? powers - 2 : 20 - powers) / bestFit;
}

/** `neighbours`: live allocations of the group on the node, at least 1. */
export const antiAffinityScore = (neighbours: number, count: number): number =>
  -(neighbours + 1) / count;

export const reschedulePenalty = -1;

/** Scores a node by the affinities. */
export type AffinityScorer = (node: Node) => number;

const affinitiesOf = (job: Job, group: TaskGroup): readonly Affinity[] => [
  ...(job.Affinities ?? []),
  ...(group.Affinities ?? []),
  ...group.Tasks.flatMap((task) => task.Affinities ?? []),
];

/** Whether nodes of one computed class may differ in their affinity score. */
export const hasUniqueAffinity = (job: Job, group: TaskGroup): boolean =>
  affinitiesOf(job, group).some(({ LTarget, RTarget }) => isUnique(LTarget) || isUnique(RTarget));

export function affinityScorer(job: Job, group: TaskGroup): AffinityScorer | undefined {
  const affinities = affinitiesOf(job, group);
  if (affinities.length === 0) return undefined;
  const whole = affinities.reduce((sum, affinity) => sum + Math.abs(affinity.Weight), 0);
  const parts = affinities.map((affinity) => ({
    weight: affinity.Weight,
    matches: compileOperand(affinity),
  }));
  return (node) =>
    whole === 0
      ? 0
      : parts.reduce((sum, part) => sum + (part.matches(node) ? part.weight : 0), 0) / whole;
}

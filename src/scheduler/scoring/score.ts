/**
 * The parts of a node's score. Source: docs/behaviour/scheduling.md#scores.
 *
 * 1. The score is the sum of the parts that apply divided by their number.
 * 2. The parts are added in the order of `ScorePart`, so that a sum kept by steps and one made from
 *    scratch are the same number to the last bit.
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

/** The share that stays free with the need on top; 0 where there is nothing to share. */
export const freeShare = (used: number, need: number, capacity: number): number =>
  capacity > 0 ? 1 - (used + need) / capacity : 0;

/** From 0 (empty) to 1 (full) for `binpack`; the other way round for `spread`. */
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

/** {@link packScore} from the shares of CPU and memory that stay free. */
export function packScoreOfShares(
  algorithm: SchedulerConfiguration['algorithm'],
  cpu: number,
  memory: number,
): number {
  const powers = 10 ** cpu + 10 ** memory;
  return clampFit(algorithm === 'spread' ? powers - 2 : 20 - powers) / bestFit;
}

/** `neighbours`: live allocations of the same job and group on the node, at least 1. */
export const antiAffinityScore = (neighbours: number, count: number): number =>
  -(neighbours + 1) / count;

export const reschedulePenalty = -1;

/** Scores a node by the affinities; `undefined` when there are none. */
export type AffinityScorer = (node: Node) => number;

const affinitiesOf = (job: Job, group: TaskGroup): readonly Affinity[] => [
  ...(job.Affinities ?? []),
  ...(group.Affinities ?? []),
  ...group.Tasks.flatMap((task) => task.Affinities ?? []),
];

/** Whether nodes of one computed class may differ in their score. */
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

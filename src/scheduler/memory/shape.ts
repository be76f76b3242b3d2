/**
 * The part of a group that decides how it sees the cluster: rules, needs, affinities. Groups of the same
 * shape share a sheet. Names, counts and the tasks' programs do not belong to the shape.
 */
import type { Job } from '../../model/job/job.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { type Rule, rulesFor } from '../fitting/feasibility.ts';
import { type Ask, askOf, type Need, needOf } from '../fitting/resources.ts';
import { distinctRules, isOfProperty } from '../scoring/distinct.ts';
import { type AffinityScorer, affinityScorer, hasUniqueAffinity } from '../scoring/score.ts';
import { spreadsOf } from '../scoring/spread.ts';
import type { SchedulerConfiguration } from '../view.ts';

type Algorithm = SchedulerConfiguration['algorithm'];

export interface Shape {
  readonly rules: readonly Rule[];
  /** The ask of the first group of the shape; only its demands count, not its names. */
  readonly ask: Ask;
  /** The ask's need; exact only without cores, whose CPU share depends on the node. */
  readonly need: Need;
  readonly algorithm: Algorithm;
  readonly affinity: AffinityScorer | undefined;
  /** Whether nodes of one computed class may differ in their affinity. */
  readonly hasUniqueAffinity: boolean;
  /** Attributes of spreads and distinct rules. */
  readonly targets: readonly string[];
}

/** Equal for groups of the same shape. */
export const shapeKey = (job: Job, group: TaskGroup, algorithm: Algorithm): string =>
  JSON.stringify([
    algorithm,
    job.NodePool,
    job.Datacenters,
    job.Constraints,
    job.Affinities,
    group.Constraints,
    group.Affinities,
    targetsOf(job, group),
    group.EphemeralDisk.SizeMB,
    group.Networks,
    group.Volumes,
    countOfVolumes(group),
    group.Tasks.map(({ Driver, Constraints, Affinities, Resources, Lifecycle }) => [
      Driver,
      Constraints,
      Affinities,
      Resources,
      Lifecycle,
    ]),
  ]);

/** The count that matters for volumes: the group's count if each allocation has its own volume, else 1. */
const countOfVolumes = ({ Volumes, Count }: TaskGroup): number =>
  Object.values(Volumes ?? {}).some(({ PerAlloc }) => PerAlloc) ? Count : 1;

export function shapeOf(job: Job, group: TaskGroup, algorithm: Algorithm): Shape {
  const ask = askOf(group);
  return {
    rules: rulesFor(job, group),
    ask,
    need: needOf(ask.template),
    algorithm,
    affinity: affinityScorer(job, group),
    hasUniqueAffinity: hasUniqueAffinity(job, group),
    targets: targetsOf(job, group),
  };
}

const targetsOf = (job: Job, group: TaskGroup): readonly string[] => [
  ...new Set([
    ...spreadsOf(job, group).map((spread) => spread.Attribute),
    ...distinctRules(job, group)
      .filter(isOfProperty)
      .map((rule) => rule.target),
  ]),
];

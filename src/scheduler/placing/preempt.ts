/**
 * Chooses the victims on a node for an allocation of higher priority.
 * Source: docs/behaviour/scheduling.md#preemption.
 *
 * 1. A victim is meant to run, belongs to another job, and has a priority lower by at least
 *    `priorityGap`.
 * 2. Without the victims the ask fits; with any of them left it does not.
 * 3. Lower priorities go first. Among equals, allocations go first whose resources come closest to
 *    the missing amounts, with a penalty for groups that have lost `MaxParallel` already.
 */
import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import { piecesOf, suitablePieces } from '../fitting/devices.ts';
import type { Missing, PlannedNode } from '../fitting/planned-node.ts';
import { type Ask, needOf } from '../fitting/resources.ts';
import type { ClusterView } from '../view.ts';

/** The least difference in priority between a job and its victims. */
const priorityGap = 10;

/** The highest priority of a victim of the job. */
export const evictedUpTo = ({ Priority }: Pick<Job, 'Priority'>): number => Priority - priorityGap;

export interface Evictable {
  readonly allocation: Allocation;
  /** The priority in the job version that the allocation runs. */
  readonly priority: number;
  /** A key for its job and group. */
  readonly groupKey: string;
  /** The group's `Migrate.MaxParallel`; 0: not set. */
  readonly maxParallel: number;
}

type Jobs = Pick<ClusterView, 'job' | 'jobVersion'>;

/** Finds the priorities of allocations; remembers each version and group. */
export class EvictionRanks {
  readonly #jobs: Jobs;
  readonly #known = new Map<string, Omit<Evictable, 'allocation'> | undefined>();

  constructor(jobs: Jobs) {
    this.#jobs = jobs;
  }

  /** `undefined`: the job no longer exists. */
  of(allocation: Allocation): Evictable | undefined {
    const { Namespace, JobID, JobCreateIndex, JobVersion, TaskGroup } = allocation;
    const groupKey = `${Namespace}\0${JobID}\0${TaskGroup}`;
    const key = `${groupKey}\0${JobCreateIndex}\0${JobVersion}`;
    if (!this.#known.has(key)) {
      const job = versionRun(this.#jobs, allocation);
      const group = job && groupNamed(job, TaskGroup);
      const maxParallel = group?.Migrate?.MaxParallel ?? 0;
      this.#known.set(key, job && { priority: job.Priority, groupKey, maxParallel });
    }
    const rank = this.#known.get(key);
    return rank && { ...rank, allocation };
  }
}

/** The version that the allocation runs, or the newest version if that is no longer kept. */
export function versionRun(
  jobs: Jobs,
  {
    Namespace,
    JobID,
    JobCreateIndex,
    JobVersion,
  }: Pick<Allocation, 'Namespace' | 'JobID' | 'JobCreateIndex' | 'JobVersion'>,
): Job | undefined {
  const isSame = (job: Job | undefined) => job?.CreateIndex === JobCreateIndex;
  const version = jobs.jobVersion(Namespace, JobID, JobVersion);
  const job = isSame(version) ? version : jobs.job(Namespace, JobID);
  return isSame(job) ? job : undefined;
}

/** The allocations on a node that the job may evict. */
export function evictableOn(
  job: Job,
  occupants: Iterable<Allocation>,
  ranks: EvictionRanks,
): readonly Evictable[] {
  const upTo = evictedUpTo(job);
  const evictables: Evictable[] = [];
  for (const allocation of occupants) {
    if (allocation.DesiredStatus !== 'run' || !holdsResources(allocation)) continue;
    if (allocation.JobID === job.ID && allocation.Namespace === job.Namespace) continue;
    const evictable = ranks.of(allocation);
    if (evictable !== undefined && evictable.priority <= upTo) evictables.push(evictable);
  }
  return evictables;
}

/**
 * The victims, in the order of the choice; `undefined`: the ask does not fit even without all of
 * `candidates`. `lost` counts the evictions of a group so far. Leaves the node as it was.
 */
export function chooseVictims(
  planned: PlannedNode,
  ask: Ask,
  evictables: readonly Evictable[],
  lost: (groupKey: string) => number,
): readonly Evictable[] | undefined {
  if (evictables.length === 0) return undefined;
  const gone = new Trial(planned, ask);
  for (const evictable of evictables) gone.add(evictable);
  const isEnough = gone.fits;
  gone.clear();
  if (!isEnough) return undefined;
  chooseInOrder(gone, evictables, lost);
  const chosen = gone.members;
  dropSuperfluous(gone);
  const left = new Set(gone.members);
  gone.clear();
  return chosen.filter((evictable) => left.has(evictable));
}

/** Evictions tried on a node. */
class Trial {
  readonly planned: PlannedNode;
  readonly ask: Ask;
  #members: Evictable[] = [];

  constructor(planned: PlannedNode, ask: Ask) {
    this.planned = planned;
    this.ask = ask;
  }

  get members(): readonly Evictable[] {
    return [...this.#members];
  }

  get fits(): boolean {
    return this.planned.fit(this.ask).fits;
  }

  add(evictable: Evictable): void {
    this.planned.evict(evictable.allocation.AllocatedResources);
    this.#members.push(evictable);
  }

  remove(evictable: Evictable): void {
    this.planned.undoEvict(evictable.allocation.AllocatedResources);
    this.#members = this.#members.filter((one) => one !== evictable);
  }

  clear(): void {
    for (const evictable of this.members) this.remove(evictable);
  }
}

function chooseInOrder(
  gone: Trial,
  evictables: readonly Evictable[],
  lost: (groupKey: string) => number,
): void {
  const { planned, ask } = gone;
  const scale = { ...needOf(ask.template), cores: ask.cores, devices: piecesAsked(ask) };
  const pieces = ask.devices.length === 0 ? nothing : suitablePieces(planned.node, ask.devices);
  const levels = Map.groupBy(evictables, ({ priority }) => priority);
  const chosen = new Map<string, number>();
  for (const [, level] of [...levels].sort(([left], [right]) => left - right)) {
    const left = new Set(level);
    while (left.size > 0 && !gone.fits) {
      const missing = planned.missing(ask);
      let best: Evictable | undefined;
      let least = Number.POSITIVE_INFINITY;
      for (const one of left) {
        const taken = lost(one.groupKey) + (chosen.get(one.groupKey) ?? 0);
        const cost = distance(missing, freedBy(one, pieces), scale) + penalty(one, taken);
        if (cost > least || (cost === least && one.allocation.ID > best!.allocation.ID)) continue;
        best = one;
        least = cost;
      }
      left.delete(best!);
      gone.add(best!);
      chosen.set(best!.groupKey, (chosen.get(best!.groupKey) ?? 0) + 1);
    }
    if (gone.fits) return;
  }
}

/** Drops victims that later victims made superfluous. */
function dropSuperfluous(gone: Trial): void {
  const last = gone.members.at(-1)!;
  const inTurn = gone.members.toReversed().sort((left, right) => right.priority - left.priority);
  for (const evictable of inTurn) {
    // The last victim is needed: without it the ask did not fit.
    if (evictable === last) continue;
    gone.remove(evictable);
    if (!gone.fits) gone.add(evictable);
  }
}

const nothing: ReadonlySet<string> = new Set();

const piecesAsked = ({ devices }: Ask): number =>
  devices.reduce((sum, { count }) => sum + count, 0);

/** The resources freed by evicting the allocation. */
function freedBy({ allocation }: Evictable, pieces: ReadonlySet<string>): Missing {
  const { AllocatedResources } = allocation;
  const held = pieces.size === 0 ? [] : piecesOf(AllocatedResources);
  return { ...needOf(AllocatedResources), devices: held.filter((one) => pieces.has(one)).length };
}

/** The distance between freed and missing amounts, each as a share of the amount asked for. */
export function distance(missing: Missing, given: Missing, asked: Missing): number {
  let sum = 0;
  for (const kind of ['cpu', 'memory', 'disk', 'cores', 'devices'] as const) {
    if (asked[kind] > 0) sum += ((missing[kind] - given[kind]) / asked[kind]) ** 2;
  }
  return Math.sqrt(sum);
}

const penaltyStep = 50;

/** The penalty for a group that would lose more than `maxParallel`. `taken`: its losses so far. */
export const penalty = ({ maxParallel }: Pick<Evictable, 'maxParallel'>, taken: number): number =>
  maxParallel > 0 && taken + 1 > maxParallel ? penaltyStep * (taken + 1 - maxParallel) : 0;

/** Close to 1 for few victims of low priority; lower for more victims or higher priorities. */
export function preemptionScore(priorities: readonly number[]): number {
  const most = Math.max(...priorities);
  const net = most + priorities.reduce((sum, one) => sum + one, 0) / most;
  return 1 / (1 + Math.exp(0.0048 * (net - 2048)));
}

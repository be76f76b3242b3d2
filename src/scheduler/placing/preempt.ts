/**
 * Who makes way on a node for an allocation of higher priority.
 * Source: docs/behaviour/scheduling.md#preemption.
 *
 * 1. Only what is to run, of other jobs and of a priority that is lower by `priorityGap` at least,
 *    makes way.
 * 2. When those chosen are gone the ask fits, and it does not while any one of them is there.
 * 3. Lower priorities go first; of equal ones those whose needs are closest to what is still missing,
 *    and rather of groups that have not lost as many already as they may at a time.
 */
import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import { piecesOf, suitablePieces } from '../fitting/devices.ts';
import type { Missing, PlannedNode } from '../fitting/planned-node.ts';
import { type Ask, needOf } from '../fitting/resources.ts';
import type { ClusterView } from '../view.ts';

/** By how much the priority of what makes way is lower, at least. */
const priorityGap = 10;

/** The highest priority that has to make way for a job. */
export const evictedUpTo = ({ Priority }: Pick<Job, 'Priority'>): number => Priority - priorityGap;

export interface Evictable {
  readonly allocation: Allocation;
  /** Of the version of the job that it runs. */
  readonly priority: number;
  /** Its job and group. */
  readonly groupKey: string;
  /** How many of the crew may move at a time; 0: nobody said. */
  readonly maxParallel: number;
}

type Jobs = Pick<ClusterView, 'job' | 'jobVersion'>;

/** What allocations are worth; remembers each version and group. */
export class EvictionRanks {
  readonly #jobs: Jobs;
  readonly #known = new Map<string, Omit<Evictable, 'allocation'> | undefined>();

  constructor(jobs: Jobs) {
    this.#jobs = jobs;
  }

  /** `undefined`: nobody knows the job any more. */
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

/** The version that it runs, or the newest where that one is no longer kept. */
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

/** Those on a node that have to make way for the job if need be. */
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
 * The candidates that are to make way, in the order in which they were chosen; `undefined`: the ask
 * does not fit even without all of them. `lost` tells how many of a crew have to make way already.
 * Leaves the room as it was.
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

/** Evictions that are tried on a room. */
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

/** Each that is chosen counts with those after it: what came later may have made it superfluous. */
function dropSuperfluous(gone: Trial): void {
  const last = gone.members.at(-1)!;
  const inTurn = gone.members.toReversed().sort((left, right) => right.priority - left.priority);
  for (const evictable of inTurn) {
    // Without the last one it did not fit, or nobody would have gone on.
    if (evictable === last) continue;
    gone.remove(evictable);
    if (!gone.fits) gone.add(evictable);
  }
}

const nothing: ReadonlySet<string> = new Set();

const piecesAsked = ({ devices }: Ask): number =>
  devices.reduce((sum, { count }) => sum + count, 0);

/** What would be had if it went. */
function freedBy({ allocation }: Evictable, pieces: ReadonlySet<string>): Missing {
  const { AllocatedResources } = allocation;
  const held = pieces.size === 0 ? [] : piecesOf(AllocatedResources);
  return { ...needOf(AllocatedResources), devices: held.filter((one) => pieces.has(one)).length };
}

/**
 * How far what is given is from what is missing, as shares of what is asked for. Cores and devices
 * count where they are asked for.
 */
export function distance(missing: Missing, given: Missing, asked: Missing): number {
  let sum = 0;
  for (const kind of ['cpu', 'memory', 'disk', 'cores', 'devices'] as const) {
    if (asked[kind] > 0) sum += ((missing[kind] - given[kind]) / asked[kind]) ** 2;
  }
  return Math.sqrt(sum);
}

const penaltyStep = 50;

/** For a group that loses more than it may at a time. `taken`: how many it has lost already. */
export const penalty = ({ maxParallel }: Pick<Evictable, 'maxParallel'>, taken: number): number =>
  maxParallel > 0 && taken + 1 > maxParallel ? penaltyStep * (taken + 1 - maxParallel) : 0;

/** Close to 1 for few of low priority, less for more or more important ones. */
export function preemptionScore(priorities: readonly number[]): number {
  const most = Math.max(...priorities);
  const net = most + priorities.reduce((sum, one) => sum + one, 0) / most;
  return 1 / (1 + Math.exp(0.0048 * (net - 2048)));
}

/**
 * Decides which allocations of a draining node go now. Pure.
 *
 * 1. At most `Migrate.MaxParallel` allocations of a group are away because of drains. Allocations
 *    that are missing, starting, or not known to be healthy count as away, on whatever node. An
 *    allocation here that does not stand may go, and goes first: its group loses nothing by that.
 *    Allocations of a node whose time is up are away, since all of them go in the same pass.
 * 2. Batch and sysbatch allocations stay until they end or the time is up.
 * 3. Allocations of system jobs go last, when nothing else is left.
 * 4. When the time is up, everything goes at once.
 * 5. A node is empty when nothing holds its resources, apart from allocations to be ignored.
 *
 * An allocation _stands_ if its group can rely on it: it runs, is healthy, and stays.
 *
 * Source: docs/behaviour/nodes.md#drains.
 */
import type { Allocation } from '../../model/allocation/allocation.ts';
import {
  isClientTerminal,
  isServerTerminal,
  isTerminal,
} from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import { type DrainStrategy, isForced } from '../../model/node/drain.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { isTriedAgain } from '../../scheduler/reschedule.ts';

export interface DrainingNode {
  readonly strategy: DrainStrategy;
  /** The allocations that hold resources of the node. */
  readonly occupants: readonly Allocation[];
  readonly jobOf: (allocation: Allocation) => Job | undefined;
  /** How many more allocations of each group may go. */
  readonly budgets: Budgets;
  readonly nowMs: number;
}

export interface DrainDecision {
  readonly migrate: readonly Allocation[];
  /** Nothing is left that has to go. */
  readonly isEmpty: boolean;
}

export function decideDrain(node: DrainingNode): DrainDecision {
  const { strategy, occupants, jobOf, budgets, nowMs } = node;
  const kindOf = (allocation: Allocation): Kind => kinds[jobOf(allocation)?.Type ?? 'service'];
  const isIgnored = (allocation: Allocation): boolean =>
    strategy.IgnoreSystemJobs && jobOf(allocation)?.Type.startsWith('sys') === true;
  const left = occupants.filter((one) => !isIgnored(one));
  if (left.length === 0) return { migrate: [], isEmpty: true };
  const movable = left.filter(isMovable);
  if (isForced(strategy, nowMs)) return { migrate: movable, isEmpty: false };
  if (left.every((one) => kindOf(one) === 'last')) return { migrate: movable, isEmpty: false };
  const migrate = budgets.take(movable.filter((one) => kindOf(one) === 'rolling'));
  return { migrate, isEmpty: false };
}

type Kind = 'rolling' | 'patient' | 'last';
const kinds: Readonly<Record<Job['Type'], Kind>> = {
  service: 'rolling',
  batch: 'patient',
  sysbatch: 'patient',
  system: 'last',
};

/** The state of a group during one pass over all draining nodes. */
interface Balance {
  /** Ids of the allocations that stand. */
  readonly standing: ReadonlySet<string>;
  /** How many more allocations may move at the same time. */
  moves: number;
  /** How many more of the standing allocations may go. */
  losses: number;
}

/** How many allocations of each group may be away, on whatever nodes. */
export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #balances = new Map<string, Balance>();

  constructor(options: BudgetsOptions) {
    this.#options = options;
  }

  /** Chooses the allocations that may go now, and counts them as gone. */
  take(allocations: readonly Allocation[]): readonly Allocation[] {
    const known = allocations.flatMap((allocation) => {
      const balance = this.#balanceOf(allocation);
      return balance === undefined ? [] : [{ allocation, balance }];
    });
    // Allocations that do not stand go first, since their group loses nothing.
    const stands = ({ allocation, balance }: (typeof known)[number]) =>
      Number(balance.standing.has(allocation.ID));
    known.sort((left, right) => stands(left) - stands(right));
    return known
      .filter(({ allocation, balance }) => takeOne(allocation, balance))
      .map(({ allocation }) => allocation);
  }

  #balanceOf(allocation: Allocation): Balance | undefined {
    const job = this.#options.jobOf(allocation);
    // Unwanted allocations are stopped by the evaluations of their own job.
    if (job === undefined || job.Stop || job.CreateIndex !== allocation.JobCreateIndex) {
      return undefined;
    }
    const key = keyOf(job, allocation.TaskGroup);
    if (!this.#balances.has(key)) this.#weighGroups(job);
    return this.#balances.get(key);
  }

  #weighGroups(job: Job): void {
    const { allocationsOf, isDraining, isTimeUp } = this.#options;
    const own = [...allocationsOf(job)].filter((one) => one.JobCreateIndex === job.CreateIndex);
    const migrated = new Set(own.filter(isMarked).map(({ ID }) => ID));
    for (const group of job.TaskGroups) {
      const standing = new Set<string>();
      let waiting = 0;
      for (const one of own) {
        if (one.TaskGroup !== group.Name || isCanary(one) || isTimeUp(one.NodeID)) continue;
        if (stands(one, group, migrated)) standing.add(one.ID);
        else if (isMovable(one) && isDraining(one.NodeID)) waiting++;
      }
      const away = Math.max(group.Count - standing.size, 0);
      const most = maxParallelOf(group);
      this.#balances.set(keyOf(job, group.Name), {
        standing,
        moves: most - Math.max(away - waiting, 0),
        losses: most - away,
      });
    }
  }
}

export interface BudgetsOptions {
  readonly jobOf: (allocation: Allocation) => Job | undefined;
  /** Every allocation of the job id. */
  readonly allocationsOf: (job: Job) => Iterable<Allocation>;
  readonly isDraining: (nodeId: string) => boolean;
  /** Whether everything on the node goes at once. */
  readonly isTimeUp: (nodeId: string) => boolean;
}

const keyOf = ({ Namespace, ID }: Job, group: string): string => `${Namespace}\0${ID}\0${group}`;

function takeOne(allocation: Allocation, balance: Balance): boolean {
  // Canaries are additional, so the group loses nothing.
  if (isCanary(allocation)) return true;
  const isLoss = balance.standing.has(allocation.ID);
  if (balance.moves <= 0 || (isLoss && balance.losses <= 0)) return false;
  balance.moves--;
  if (isLoss) balance.losses--;
  return true;
}

const isCanary = ({ DeploymentStatus }: Allocation): boolean => DeploymentStatus?.Canary === true;
const isMarked = ({ DesiredTransition }: Allocation): boolean => DesiredTransition.Migrate === true;

/** The allocation runs or starts, and was not asked to migrate. */
const isMovable = (allocation: Allocation): boolean =>
  !isTerminal(allocation) && !isMarked(allocation);

const maxParallelOf = ({ Migrate }: TaskGroup): number => Migrate?.MaxParallel ?? 1;

/** Whether the group can rely on the allocation. */
function stands(allocation: Allocation, group: TaskGroup, migrated: ReadonlySet<string>): boolean {
  if (isServerTerminal(allocation) || migrated.has(allocation.ID)) return false;
  const { ClientStatus, DeploymentStatus } = allocation;
  // An allocation that failed for good is not replaced: waiting for a replacement would never end.
  if (ClientStatus === 'failed') return isGivenUp(allocation, group);
  if (isClientTerminal(allocation) || ClientStatus === 'unknown') return false;
  const healthy = DeploymentStatus?.Healthy ?? null;
  if (healthy !== null) return healthy;
  const tellsHealth = allocation.DeploymentID !== '' || migrated.has(allocation.PreviousAllocation);
  return ClientStatus === 'running' && !tellsHealth;
}

/** Also true if the group's policy has changed and no longer replaces the allocation. */
const isGivenUp = (allocation: Allocation, { ReschedulePolicy }: TaskGroup): boolean =>
  allocation.NextAllocation === '' &&
  (allocation.FollowupEvalID === '' || !isTriedAgain(allocation, ReschedulePolicy));

/**
 * What a draining node's allocations are to do now. Pure.
 *
 * 1. A group never has more than `Migrate.MaxParallel` of its instances away because of drains:
 *    what is missing, starting, or not known to be healthy counts, wherever it is. What is none of
 *    those that it has for sure may go, and goes first, as nothing more is missed then.
 * 2. Batch and sysbatch work is left to end by itself until the time is up.
 * 3. What system jobs run goes last: when nothing else is left.
 * 4. Once the time is up everything goes at once.
 * 5. A node is empty when nothing holds its resources any more, apart from what was to be ignored.
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
  /** Those that hold its resources. */
  readonly occupants: readonly Allocation[];
  readonly jobOf: (allocation: Allocation) => Job | undefined;
  /** How many more of the allocation's group may go; asked and taken from one by one. */
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

/** What is known of a group while one look at all draining nodes goes on. */
interface Balance {
  /** Ids of the instances that it has for sure. */
  readonly standing: ReadonlySet<string>;
  /** How many more may be on their way at the same time. */
  moves: number;
  /** How many more of those that stand may go. */
  losses: number;
}

/** How many of each group may be away, wherever they are. */
export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #balances = new Map<string, Balance>();

  constructor(options: BudgetsOptions) {
    this.#options = options;
  }

  /** Those of the allocations that may go now; from then on they count as gone. */
  take(allocations: readonly Allocation[]): readonly Allocation[] {
    const known = allocations.flatMap((allocation) => {
      const balance = this.#balanceOf(allocation);
      return balance === undefined ? [] : [{ allocation, balance }];
    });
    // What does not stand goes first: its group misses nothing more by that.
    const stands = ({ allocation, balance }: (typeof known)[number]) =>
      Number(balance.standing.has(allocation.ID));
    known.sort((left, right) => stands(left) - stands(right));
    return known
      .filter(({ allocation, balance }) => takeOne(allocation, balance))
      .map(({ allocation }) => allocation);
  }

  #balanceOf(allocation: Allocation): Balance | undefined {
    const job = this.#options.jobOf(allocation);
    // What its job no longer wants there is ended by the job's own evaluation.
    if (job === undefined || job.Stop || job.CreateIndex !== allocation.JobCreateIndex) {
      return undefined;
    }
    const key = keyOf(job, allocation.TaskGroup);
    if (!this.#balances.has(key)) this.#weigh(job);
    return this.#balances.get(key);
  }

  #weigh(job: Job): void {
    const { allocationsOf, isDraining } = this.#options;
    const own = [...allocationsOf(job)].filter((one) => one.JobCreateIndex === job.CreateIndex);
    const migrated = new Set(own.filter(isMarked).map(({ ID }) => ID));
    for (const group of job.TaskGroups) {
      const standing = new Set<string>();
      let waiting = 0;
      for (const one of own) {
        if (one.TaskGroup !== group.Name || isCanary(one)) continue;
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
}

const keyOf = ({ Namespace, ID }: Job, group: string): string => `${Namespace}\0${ID}\0${group}`;

function takeOne(allocation: Allocation, balance: Balance): boolean {
  // Canaries are additional: none of the instances that are wanted goes with them.
  if (isCanary(allocation)) return true;
  const isLoss = balance.standing.has(allocation.ID);
  if (balance.moves <= 0 || (isLoss && balance.losses <= 0)) return false;
  balance.moves--;
  if (isLoss) balance.losses--;
  return true;
}

const isCanary = ({ DeploymentStatus }: Allocation): boolean => DeploymentStatus?.Canary === true;
const isMarked = ({ DesiredTransition }: Allocation): boolean => DesiredTransition.Migrate === true;

/** Whether it is there and nobody has asked for it to go. */
const isMovable = (allocation: Allocation): boolean =>
  !isTerminal(allocation) && !isMarked(allocation);

const maxParallelOf = ({ Migrate }: TaskGroup): number => Migrate?.MaxParallel ?? 1;

/** Whether it is one of the instances that the group has for sure. */
function stands(allocation: Allocation, group: TaskGroup, migrated: ReadonlySet<string>): boolean {
  if (isServerTerminal(allocation) || migrated.has(allocation.ID)) return false;
  const { ClientStatus, DeploymentStatus } = allocation;
  // What failed for good is not replaced: waiting for it would be for ever.
  if (ClientStatus === 'failed') return isGivenUp(allocation, group);
  if (isClientTerminal(allocation) || ClientStatus === 'unknown') return false;
  const healthy = DeploymentStatus?.Healthy ?? null;
  if (healthy !== null) return healthy;
  const tellsHealth = allocation.DeploymentID !== '' || migrated.has(allocation.PreviousAllocation);
  return ClientStatus === 'running' && !tellsHealth;
}

/** What waited to be tried again may do so no more: its group's policy is another one now. */
const isGivenUp = (allocation: Allocation, { ReschedulePolicy }: TaskGroup): boolean =>
  allocation.NextAllocation === '' &&
  (allocation.FollowupEvalID === '' || !isTriedAgain(allocation, ReschedulePolicy));

import { instantToMs } from '../../src/base/instant.ts';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import { allocations, evaluations } from '../../src/state/tables.ts';
import type { Change } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import { isEnded, isLive } from '../account.ts';
import type { Checker } from './checker.ts';

/**
 * Drains of any number of nodes together move at most `Migrate.MaxParallel` allocations of a group at a
 * time, until their deadline. A move ends when the replacement is healthy.
 */
export const drainsMoveFewAtATime = (): Checker => {
  /**
   * Latest time of the machine's clock, which may have jumped back after a move was forced, or of a leader,
   * whose own clock never goes back (C1 and C2 of `src/state/clock.ts`).
   */
  let latestMs = 0;
  return {
    guarantee: 'a drain moves at most Migrate.MaxParallel of a group',
    committed(changes, _index, { account, nowMs }, fault) {
      latestMs = Math.max(latestMs, nowMs);
      if (isByHand(changes)) return;
      for (const one of marked(changes)) {
        latestMs = Math.max(latestMs, instantToMs(one.ModifyTime));
        const group = serviceGroup(one, account);
        if (group === undefined || one.DeploymentStatus?.Canary === true) continue;
        if (isForced(one, account, latestMs)) continue;
        const own = [...account.allocationsOf(one)].filter(
          (other) =>
            other.TaskGroup === one.TaskGroup && other.JobCreateIndex === one.JobCreateIndex,
        );
        // A group with enough remaining allocations may move any number.
        if (own.filter(stays).length >= group.Count) continue;
        // Allocations in excess of the count may move as well, as after an update.
        const limit = group.Migrate?.MaxParallel ?? 1;
        const extra = Math.max(own.filter(isLive).length - group.Count, 0);
        const moving = new Map<string, Allocation>();
        for (const other of own) {
          const last = onTheMove(other, account);
          if (last !== undefined) moving.set(last.ID, last);
        }
        if (moving.size <= limit + extra) continue;
        const names = [...moving.values()].map(({ Name }) => Name).join(', ');
        fault(`${moving.size} move at a time, Migrate.MaxParallel is ${limit}: ${names}`);
      }
    },
  };
};

/** Whether a user stopped an allocation, which moves it as well. */
const isByHand = (changes: readonly Change[]): boolean =>
  changes.some(
    ({ table, before, after }) =>
      table === evaluations.name &&
      before === undefined &&
      (after as Evaluation | undefined)?.TriggeredBy === 'alloc-stop',
  );

const marked = (changes: readonly Change[]): readonly Allocation[] =>
  changes.flatMap(({ table, before, after }) => {
    if (table !== allocations.name || before === undefined || after === undefined) return [];
    const isNew = (before as Allocation).DesiredTransition.Migrate !== true && isMarked(after);
    return isNew ? [after as Allocation] : [];
  });

const isMarked = (row: unknown): boolean => (row as Allocation).DesiredTransition.Migrate === true;

const stays = (one: Allocation): boolean =>
  one.DesiredStatus === 'run' && one.ClientStatus === 'running' && !isMarked(one);

function serviceGroup(one: Allocation, account: Account): TaskGroup | undefined {
  const job = account.job(one.Namespace, one.JobID);
  if (job?.Type !== 'service' || job.Stop) return undefined;
  return job.TaskGroups.find(({ Name }) => Name === one.TaskGroup);
}

function isForced({ NodeID }: Allocation, account: Account, nowMs: number): boolean {
  const deadline = account.node(NodeID)?.DrainStrategy?.ForceDeadline ?? null;
  return deadline !== null && Date.parse(deadline) <= nowMs;
}

/**
 * The allocation under way of a move: the allocation itself until it is stopped, then the last of its
 * successors until that is healthy.
 */
function onTheMove(one: Allocation, account: Account): Allocation | undefined {
  if (!isMarked(one) || one.DeploymentStatus?.Canary === true) return undefined;
  // A disconnected allocation with a successor is replaced already.
  if (one.ClientStatus === 'unknown' && one.NextAllocation !== '') return undefined;
  if (one.DesiredStatus === 'run') return isEnded(one) ? undefined : one;
  let last = one;
  let steps = 0;
  for (; last.NextAllocation !== ''; steps++) {
    const next = account.allocation(last.NextAllocation);
    if (next === undefined) break;
    // A healthy successor ends the move, even if it is replaced later.
    if (next.DeploymentStatus?.Healthy === true) return undefined;
    last = next;
  }
  const { ClientStatus, DesiredStatus, FollowupEvalID } = last;
  if (last === one || DesiredStatus !== 'run') return undefined;
  // A successor on another draining node waits for its own move.
  if (!isMarked(last) && account.node(last.NodeID)?.Drain === true) return undefined;
  // The successor of a failed replacement counts as soon as it runs. A final failure ends the move.
  if (steps > 1 && ClientStatus === 'running') return undefined;
  return ClientStatus === 'failed' && FollowupEvalID === '' ? undefined : last;
}

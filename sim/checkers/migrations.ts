import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import { allocations, evaluations } from '../../src/state/tables.ts';
import type { Change } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import { isEnded, isLive } from '../account.ts';
import type { Checker } from './checker.ts';

/**
 * Drains, of however many nodes, move no more than `Migrate.MaxParallel` of a group at a time, unless
 * their time is up: the next one goes when the replacement of the last one is healthy.
 */
export const drainsMoveFewAtATime = (): Checker => {
  /** The furthest that the server's clock was seen: what it forced then, it had reason to. */
  let latestMs = 0;
  return {
    guarantee: 'a drain moves at most Migrate.MaxParallel of a group',
    committed(changes, _index, { account, nowMs }, fault) {
      latestMs = Math.max(latestMs, nowMs);
      if (isByHand(changes)) return;
      for (const one of marked(changes)) {
        const group = serviceGroup(one, account);
        if (group === undefined || one.DeploymentStatus?.Canary === true) continue;
        if (isForced(one, account, latestMs)) continue;
        const own = [...account.allocationsOf(one)].filter(
          (other) =>
            other.TaskGroup === one.TaskGroup && other.JobCreateIndex === one.JobCreateIndex,
        );
        // One that has fewer to have than there are misses nobody.
        if (own.filter(stays).length >= group.Count) continue;
        // Where an update has brought more than are to be, so many more may go.
        const limit = group.Migrate?.MaxParallel ?? 1;
        const extra = Math.max(own.filter(isLive).length - group.Count, 0);
        const moving = new Map<string, Allocation>();
        for (const other of own) {
          const last = onTheMove(other, account);
          if (last !== undefined) moving.set(last.ID, last);
        }
        if (moving.size <= limit + extra) continue;
        const names = [...moving.values()].map(({ Name }) => Name).join(', ');
        fault(`${moving.size} are moved at a time, Migrate.MaxParallel is ${limit}: ${names}`);
      }
    },
  };
};

/** Somebody stops an allocation, which is moved then as well. */
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

/** One that was told to go, or what comes in its place and is not there yet. */
function onTheMove(one: Allocation, account: Account): Allocation | undefined {
  if (!isMarked(one) || one.DeploymentStatus?.Canary === true) return undefined;
  // While it is away another one does its work: whether it goes as well makes no difference.
  if (one.ClientStatus === 'unknown' && one.NextAllocation !== '') return undefined;
  if (one.DesiredStatus === 'run') return isEnded(one) ? undefined : one;
  let last = one;
  let steps = 0;
  for (; last.NextAllocation !== ''; steps++) {
    const next = account.allocation(last.NextAllocation);
    if (next === undefined) break;
    // Once it had arrived, what becomes of it is another matter.
    if (next.DeploymentStatus?.Healthy === true) return undefined;
    last = next;
  }
  const { ClientStatus, DesiredStatus, FollowupEvalID } = last;
  // Nothing is wanted in its place.
  if (last === one || DesiredStatus !== 'run') return undefined;
  // It is on a node that is drained as well, and waits for its own turn to be moved.
  if (!isMarked(last) && account.node(last.NodeID)?.Drain === true) return undefined;
  // What took the place of a replacement that failed counts as soon as it runs; and what failed for
  // good is not waited for.
  if (steps > 1 && ClientStatus === 'running') return undefined;
  return ClientStatus === 'failed' && FollowupEvalID === '' ? undefined : last;
}

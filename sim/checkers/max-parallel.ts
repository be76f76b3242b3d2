import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isAway } from '../../src/scheduler/reconcile/classify.ts';
import { allocations } from '../../src/state/tables.ts';
import type { Change } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import type { Checker, Scene } from './checker.ts';

/** New allocations of an update that are not yet known to be healthy. */
type Open = Map<string, Allocation>;

/**
 * A rolling update replaces at most `MaxParallel` allocations of a group at a time. A replacement is under
 * way until the new allocation is healthy or no longer wanted. If it fails, its successor takes its place.
 */
export const atMostMaxParallelUnhealthy = (): Checker => {
  const groups = new Map<string, Open>();
  /** Ids of all replacements that were ever under way. */
  const opened = new Set<string>();
  const lookAtAll = ({ account }: Pick<Scene, 'account'>): void => {
    for (const open of groups.values()) {
      for (const { ID } of [...open.values()]) lookAgain(open, ID, account);
    }
  };
  return {
    guarantee: 'an update replaces at most MaxParallel at a time',
    resumed: lookAtAll,
    /** Replacements that have ended since the snapshot are under way again. */
    restored(changes, _index, scene) {
      for (const { table, after } of changes) {
        const one = after as Allocation | undefined;
        if (table !== allocations.name || one === undefined || !opened.has(one.ID)) continue;
        const open = entryOf(groups, one);
        open.set(one.ID, one);
      }
      lookAtAll(scene);
    },
    committed(changes, _index, { account }, fault) {
      const stopped = stoppedBy(changes);
      const grown = new Set<Open>();
      for (const { table, before, after } of changes) {
        if (table !== allocations.name || after === undefined) continue;
        const one = after as Allocation;
        if (one.DeploymentID === '') continue;
        const open = entryOf(groups, one);
        if (before !== undefined) close(open, one);
        else if (opens(one, open, stopped)) {
          opened.add(one.ID);
          grown.add(open.set(one.ID, one));
        }
      }
      for (const open of grown) {
        const [one] = open.values();
        const limit = one && maxParallel(one, account);
        // A plan in parts may report the loss of an allocation in a later part.
        const here = [...open.values()].filter(({ NodeID }) => !isAway(account.node(NodeID)));
        if (limit === undefined || here.length <= limit) continue;
        const names = here.map(({ Name }) => Name).join(', ');
        fault(`${here.length} replacements at a time, MaxParallel is ${limit}: ${names}`);
      }
    },
  };
};

function entryOf(groups: Map<string, Open>, one: Allocation): Open {
  const key = `${one.DeploymentID} ${one.TaskGroup}`;
  const open = groups.get(key) ?? new Map<string, Allocation>();
  groups.set(key, open);
  return open;
}

/** The allocations that the transaction stopped, as they were before it. */
function stoppedBy(changes: readonly Change[]): ReadonlyMap<string, Allocation> {
  const stopped = new Map<string, Allocation>();
  for (const { table, before, after } of changes) {
    if (table !== allocations.name || before === undefined || after === undefined) continue;
    const was = before as Allocation;
    const { DesiredStatus, ClientStatus } = after as Allocation;
    const isStopped = was.DesiredStatus === 'run' && DesiredStatus === 'stop';
    if (isStopped && ClientStatus !== 'lost') stopped.set(was.ID, was);
  }
  return stopped;
}

/** Whether the new allocation replaces another one because of an update. */
function opens(one: Allocation, open: Open, stopped: ReadonlyMap<string, Allocation>): boolean {
  if (one.DeploymentStatus?.Canary === true) return false;
  if (open.delete(one.PreviousAllocation)) return true;
  const previous = stopped.get(one.PreviousAllocation);
  if (previous === undefined || previous.JobVersion === one.JobVersion) return false;
  const { Migrate, ForceReschedule } = previous.DesiredTransition;
  const isAlive = previous.ClientStatus === 'pending' || previous.ClientStatus === 'running';
  // An allocation that leaves for another reason gets the new version without counting as updated.
  return isAlive && Migrate !== true && ForceReschedule !== true;
}

function close(open: Open, one: Allocation): void {
  if (!open.has(one.ID)) return;
  const isUnwanted = one.DesiredStatus !== 'run' && one.NextAllocation === '';
  if (one.DeploymentStatus?.Healthy === true || isUnwanted) open.delete(one.ID);
}

/** Closes a replacement that ended unnoticed, or continues with its successor. */
function lookAgain(open: Open, id: string, account: Account): void {
  const one = account.allocation(id);
  const next = one && account.allocation(one.NextAllocation);
  if (one !== undefined) close(open, one);
  if (one !== undefined && next === undefined) return;
  if (open.delete(id) && next !== undefined && next.DeploymentStatus?.Healthy !== true) {
    open.set(next.ID, next);
  }
}

function maxParallel(one: Allocation, account: Account): number | undefined {
  const job = account.jobOf(one);
  return job?.TaskGroups.find(({ Name }) => Name === one.TaskGroup)?.Update?.MaxParallel;
}

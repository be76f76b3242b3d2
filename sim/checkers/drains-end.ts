import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { nodes } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import { isLive } from '../account.ts';
import type { Checker } from './checker.ts';

/** Time until the server acts on a deadline. The commits show that it was not down meanwhile. */
const patienceMs = 60_000;
const commitsAwaited = 20;

/**
 * After the deadline of a drain, all allocations on the node are told to migrate. At rest no drain goes on
 * beyond its deadline, and all allocations that were told to migrate have left.
 */
export const drainsEnd = (): Checker => {
  /** Allocations that stay beyond the deadline: since when, and the number of commits since then. */
  const late = new Map<string, { readonly sinceMs: number; commits: number }>();
  return {
    guarantee: 'a drain ends by its deadline',
    // The servers have to find out again.
    restored: () => late.clear(),
    committed(_changes, _index, { account, nowMs, elapsedMs }, fault) {
      for (const { ID, Name, DrainStrategy } of account.rows(nodes).values()) {
        const deadline = DrainStrategy?.ForceDeadline ?? null;
        if (DrainStrategy === null || deadline === null) continue;
        if (Date.parse(deadline) >= nowMs) continue;
        for (const one of account.occupantsOf(ID)) {
          if (!isToLeave(one, DrainStrategy.IgnoreSystemJobs, account)) continue;
          const known = late.get(one.ID) ?? { sinceMs: elapsedMs, commits: 0 };
          late.set(one.ID, known);
          known.commits++;
          const isLong = elapsedMs - known.sinceMs > patienceMs;
          if (!isLong || known.commits < commitsAwaited) continue;
          late.delete(one.ID);
          fault(`${one.Name} stays on ${Name}, whose drain had the deadline ${deadline}`);
        }
      }
    },
    rested({ account, nowMs }, fault) {
      for (const { ID, Name, DrainStrategy } of account.rows(nodes).values()) {
        const deadline = DrainStrategy?.ForceDeadline ?? null;
        if (deadline !== null && Date.parse(deadline) < nowMs) fault(`${Name} is still drained`);
        const left = [...account.occupantsOf(ID)].filter((one) => isToGo(one, account));
        for (const one of left) fault(`${one.Name} was told to leave ${Name}, but is still there`);
      }
    },
  };
};

/** Whether it runs and was not told to migrate. */
function isToLeave(one: Allocation, staysEverywhere: boolean, account: Account): boolean {
  if (!isLive(one) || one.DesiredTransition.Migrate === true) return false;
  const type = account.job(one.Namespace, one.JobID)?.Type;
  return type !== undefined && !(staysEverywhere && type.startsWith('sys'));
}

/** Whether it was told to migrate. A drain without a deadline may wait for room for ever. */
const isToGo = ({ NodeID, DesiredTransition }: Allocation, account: Account): boolean =>
  DesiredTransition.Migrate === true && account.node(NodeID)?.Drain !== true;

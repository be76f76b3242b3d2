import { durationMs } from '../../src/base/duration.ts';
import { instantToMs } from '../../src/base/instant.ts';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Node } from '../../src/model/node/node.ts';
import type { Disconnect } from '../../src/model/task-group/policies.ts';
import { allocations, nodes } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Checker, Fault, Scene } from './checker.ts';

/** Tolerance of the time of a loss. */
const earlyMs = 1000;
/** Longest time from a transaction to its commit that is allowed for, as while the log is slow. */
const commitMaxMs = 20_000;

/**
 * An allocation on a disconnected node is given up no sooner than its group allows (`LostAfter`). With
 * `Replace = false` it is not replaced before that.
 */
export const disconnectsAreRespected = (): Checker => {
  /** Value of `passedMs` when each missing node was first missed. */
  const missed = new Map<string, number>();
  /** Value of `passedMs` when each disconnected allocation was first missed. */
  const since = new Map<string, number>();
  /** Allocations of purged nodes: they are lost at once, even if the node registers anew. */
  const forsaken = new Set<string>();
  /**
   * The most time that servers may count as passed. The server's clock jumps, while its timers do not, so
   * each step between two commits counts by the clock that went further.
   */
  let passedMs = 0;
  let last: Moment | undefined;
  const seen = ({ nowMs, elapsedMs }: Moment): void => {
    if (last !== undefined) passedMs += Math.max(nowMs - last.nowMs, elapsedMs - last.elapsedMs);
    last = { nowMs, elapsedMs };
  };
  /** Value of `passedMs` when the transaction ran that gave the row this time, at most `agoMaxMs` ago. */
  const ranAt = (time = 0, agoMaxMs = commitMaxMs): number => {
    const agoMs = last === undefined || time === 0 ? 0 : last.nowMs - instantToMs(time);
    return passedMs - Math.min(Math.max(agoMs, 0), agoMaxMs);
  };
  const noteNode = ({ ID, Status, StatusUpdatedAt }: Node, agoMaxMs?: number): void => {
    if (Status !== 'disconnected' && Status !== 'down') missed.delete(ID);
    else if (!missed.has(ID)) missed.set(ID, ranAt(StatusUpdatedAt, agoMaxMs));
  };
  const note = ({ ID, NodeID, ClientStatus, AllocStates }: Allocation, agoMaxMs?: number): void => {
    if (ClientStatus !== 'unknown') since.delete(ID);
    else if (!since.has(ID)) {
      const time = AllocStates?.findLast(({ Value }) => Value === 'unknown')?.Time;
      since.set(ID, missed.get(NodeID) ?? ranAt(time, agoMaxMs));
    }
  };
  const awayMs = ({ ID, NodeID }: Allocation): number =>
    passedMs - (since.get(ID) ?? missed.get(NodeID) ?? passedMs);
  return {
    guarantee: 'disconnected allocations are kept as long as their group says',
    /** The rows of the snapshot may be of any age. */
    restored(_changes, _index, { account, ...scene }) {
      seen(scene);
      missed.clear();
      since.clear();
      for (const one of account.rows(nodes).values()) noteNode(one, Number.POSITIVE_INFINITY);
      for (const one of account.rows(allocations).values()) note(one, Number.POSITIVE_INFINITY);
    },
    resumed({ account, ...scene }) {
      seen(scene);
      for (const one of account.rows(nodes).values()) noteNode(one);
      for (const one of account.rows(allocations).values()) note(one);
    },
    committed(changes, _index, { account, ...scene }, fault) {
      seen(scene);
      for (const { table, before, after } of changes) {
        if (after === undefined) {
          if (table !== nodes.name) continue;
          for (const { ID } of account.occupantsOf((before as Node).ID)) forsaken.add(ID);
          continue;
        }
        if (table === nodes.name) noteNode(after as Node);
        if (table !== allocations.name) continue;
        const [was, is] = [before as Allocation | undefined, after as Allocation];
        if (was === undefined) checkReplacement(is, account, fault);
        else if (!forsaken.has(is.ID) && isLoss(was, is)) {
          checkLoss(is, awayMs(is), account, fault);
        }
        note(is);
      }
    },
  };
};

type Moment = Pick<Scene, 'nowMs' | 'elapsedMs'>;

/** Whether an allocation that ran and was wanted became lost. */
const isLoss = (was: Allocation, is: Allocation): boolean =>
  (was.ClientStatus === 'running' || was.ClientStatus === 'unknown') &&
  was.DesiredStatus === 'run' &&
  is.ClientStatus === 'lost';

function checkLoss(lost: Allocation, awayMs: number, account: Account, fault: Fault): void {
  const waitMs = durationMs(disconnectOf(lost, account)?.LostAfter ?? 0);
  if (awayMs + earlyMs >= waitMs || account.node(lost.NodeID) === undefined) return;
  fault(`${lost.Name} was given up after ${awayMs / 1000} s instead of ${waitMs / 1000} s`);
}

function checkReplacement(
  { Name, PreviousAllocation }: Allocation,
  account: Account,
  fault: Fault,
): void {
  const previous = account.allocation(PreviousAllocation);
  if (previous?.ClientStatus !== 'unknown' || previous.DesiredStatus !== 'run') return;
  if (disconnectOf(previous, account)?.Replace === false) {
    fault(`${Name} replaces a disconnected allocation although Replace is false`);
  }
}

/** `undefined` if the job no longer wants the allocation, which may then end at any time. */
function disconnectOf(one: Allocation, account: Account): Disconnect | null | undefined {
  const job = account.job(one.Namespace, one.JobID);
  if (job === undefined || job.Stop || job.CreateIndex !== one.JobCreateIndex) return undefined;
  return job.TaskGroups.find(({ Name }) => Name === one.TaskGroup)?.Disconnect;
}

import { durationMs } from '../../src/base/duration.ts';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Node } from '../../src/model/node/node.ts';
import type { Disconnect } from '../../src/model/task-group/policies.ts';
import { allocations, nodes } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Checker, Fault, Scene } from './checker.ts';

/** What is due this soon may be done now. */
const earlyMs = 1000;

/**
 * What runs on a node that is not heard of is given up no sooner than its group says; and where the
 * group says that nothing is to run in its place meanwhile, nothing does.
 */
export const whatIsAwayIsWaitedFor = (): Checker => {
  /** Where the time that has passed stood when each node that is not heard of was missed. */
  const missed = new Map<string, number>();
  /** And when each allocation went away with its node. */
  const since = new Map<string, number>();
  /** What was on a node when somebody purged it is lost, though the node may join anew at once. */
  const forsaken = new Set<string>();
  /**
   * Time that servers may count as passed: rows tell the time of the server's clock, which jumps, and
   * timers run on while it does. So each step counts by whichever clock went further.
   */
  let passedMs = 0;
  let last: Moment | undefined;
  const seen = ({ nowMs, elapsedMs }: Moment): number => {
    if (last !== undefined) passedMs += Math.max(nowMs - last.nowMs, elapsedMs - last.elapsedMs);
    last = { nowMs, elapsedMs };
    return passedMs;
  };
  const noteNode = ({ ID, Status }: Node, nowMs: number): void => {
    if (Status !== 'disconnected' && Status !== 'down') missed.delete(ID);
    else if (!missed.has(ID)) missed.set(ID, nowMs);
  };
  const note = ({ ID, NodeID, ClientStatus }: Allocation, nowMs: number): void => {
    if (ClientStatus !== 'unknown') since.delete(ID);
    else if (!since.has(ID)) since.set(ID, missed.get(NodeID) ?? nowMs);
  };
  const awayMs = ({ ID, NodeID }: Allocation): number =>
    passedMs - (since.get(ID) ?? missed.get(NodeID) ?? passedMs);
  return {
    guarantee: 'what is away is waited for as agreed',
    resumed({ account, ...scene }) {
      const nowMs = seen(scene);
      for (const one of account.rows(nodes).values()) noteNode(one, nowMs);
      for (const one of account.rows(allocations).values()) note(one, nowMs);
    },
    committed(changes, _index, { account, ...scene }, fault) {
      const nowMs = seen(scene);
      for (const { table, before, after } of changes) {
        if (after === undefined) {
          if (table !== nodes.name) continue;
          for (const { ID } of account.occupantsOf((before as Node).ID)) forsaken.add(ID);
          continue;
        }
        if (table === nodes.name) noteNode(after as Node, nowMs);
        if (table !== allocations.name) continue;
        const [was, is] = [before as Allocation | undefined, after as Allocation];
        if (was === undefined) judgePlacement(is, account, fault);
        else if (!forsaken.has(is.ID)) judgeLoss(was, is, awayMs(is), account, fault);
        note(is, nowMs);
      }
    },
  };
};

type Moment = Pick<Scene, 'nowMs' | 'elapsedMs'>;

/** What had not begun yet, was not to run, or ran on a node that is gone is not waited for. */
function judgeLoss(
  was: Allocation,
  is: Allocation,
  awayMs: number,
  account: Account,
  fault: Fault,
): void {
  const ran = was.ClientStatus === 'running' || was.ClientStatus === 'unknown';
  if (!ran || is.ClientStatus !== 'lost' || was.DesiredStatus !== 'run') return;
  const waitMs = durationMs(agreed(is, account)?.LostAfter ?? 0);
  if (awayMs + earlyMs >= waitMs || account.node(is.NodeID) === undefined) return;
  fault(`${is.Name} was given up after ${awayMs / 1000} s, and is waited for ${waitMs / 1000} s`);
}

function judgePlacement(
  { Name, PreviousAllocation }: Allocation,
  account: Account,
  fault: Fault,
): void {
  const previous = account.allocation(PreviousAllocation);
  if (previous?.ClientStatus !== 'unknown' || previous.DesiredStatus !== 'run') return;
  if (agreed(previous, account)?.Replace === false) {
    fault(`${Name} was placed in the place of one that is away and is not to be replaced`);
  }
}

function agreed(one: Allocation, account: Account): Disconnect | null | undefined {
  const job = account.job(one.Namespace, one.JobID);
  // What its job no longer wants is ended for other reasons.
  if (job === undefined || job.Stop || job.CreateIndex !== one.JobCreateIndex) return undefined;
  return job.TaskGroups.find(({ Name }) => Name === one.TaskGroup)?.Disconnect;
}

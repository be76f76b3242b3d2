import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import { isTerminalEvaluation } from '../../src/model/evaluation/evaluation.ts';
import type { Job } from '../../src/model/job/job.ts';
import { evaluations, jobs, periodicLaunches } from '../../src/state/tables.ts';
import type { Change } from '../../src/state/types.ts';
import { type Account, isLive } from '../account.ts';
import { stepSecondsOf } from '../launches.ts';
import type { Checker, Fault, Scene } from './checker.ts';

/** Tolerance of the time of a launch. */
const graceSeconds = 60;

/**
 * A periodic slot launches at most once and not before its time, over crashes and jumps of the clock. With
 * `ProhibitOverlap`, nothing launches while an earlier child is active. Of several missed slots only the
 * last one launches. At rest, the newest slot has launched or was skipped.
 *
 * A launch by the schedule commits a row of `periodicLaunches` as well, a forced launch does not.
 */
export function noSlotTwice(): Checker {
  /** The slots that were launched, by registration of their job. */
  const launched = new Map<string, Set<number>>();
  const slotsOf = ({ Namespace, ID, CreateIndex }: Job): Set<number> => {
    const key = [Namespace, ID, CreateIndex].join(' ');
    const slots = launched.get(key) ?? new Set();
    launched.set(key, slots);
    return slots;
  };
  return {
    guarantee: 'no periodic slot launches twice',
    /** Slots that were launched after the snapshot are launched again. */
    restored(_changes, _index, { account }) {
      for (const job of account.rows(jobs).values()) {
        const settled = settledOf(job, account);
        const slots = slotsOf(job);
        for (const slot of slots) if (slot > settled) slots.delete(slot);
      }
    },
    committed(changes, _index, scene, fault) {
      const noted = new Map<string, number>();
      for (const { table, after } of changes) {
        if (table !== periodicLaunches.name || after === undefined) continue;
        const { JobID, Launch } = after as unknown as { JobID: string; Launch: number };
        noted.set(JobID, Launch / 1e9);
      }
      for (const change of changes) {
        const child = newLaunch(change);
        if (child === undefined) continue;
        const slot = slotOf(child);
        if (noted.get(child.ParentID) !== slot) continue;
        const parent = checkSlot(child, slot, scene, fault);
        if (parent === undefined) continue;
        const slots = slotsOf(parent);
        if (slots.has(slot)) fault(`slot ${slot} of ${parent.ID} launches twice`);
        slots.add(slot);
        checkOverlap({ child, parent, changes }, scene.account, fault);
      }
    },
    rested(scene, fault) {
      for (const job of scene.account.rows(jobs).values()) checkNewest(job, scene, fault);
    },
  };
}

const slotOf = ({ ID }: Job): number => Number(/\/periodic-(\d+)$/.exec(ID)?.[1] ?? Number.NaN);

function newLaunch({ table, before, after }: Change): Job | undefined {
  if (table !== jobs.name || before !== undefined) return undefined;
  const job = after as Job | undefined;
  return job !== undefined && job.ParentID !== '' && !Number.isNaN(slotOf(job)) ? job : undefined;
}

/** Checks the time of a launch; returns the periodic job. */
function checkSlot(
  child: Job,
  slot: number,
  { account, nowMs }: Scene,
  fault: Fault,
): Job | undefined {
  const { ParentID, Namespace } = child;
  const parent = account.job(Namespace, ParentID);
  if (parent === undefined) {
    fault(`${child.ID} launches, but ${ParentID} does not exist`);
    return undefined;
  }
  const step = stepSecondsOf(parent.Periodic?.Specs?.[0] ?? '');
  if (step === undefined || slot % step !== 0) fault(`${slot} is not a slot of ${ParentID}`);
  const lateSeconds = nowMs / 1000 - slot;
  // The server's clock may have jumped back after the launch.
  if (lateSeconds < -graceSeconds * 2) fault(`${child.ID} launches ${-lateSeconds} s early`);
  if (step !== undefined && lateSeconds > step + graceSeconds * 4) {
    fault(`${child.ID} launches ${lateSeconds} s late, after later slots were due`);
  }
  return parent;
}

interface Launch {
  readonly child: Job;
  readonly parent: Job;
  readonly changes: readonly Change[];
}

function checkOverlap({ child, parent, changes }: Launch, account: Account, fault: Fault): void {
  if (parent.Periodic?.ProhibitOverlap !== true) return;
  const isNew = new Set(changes.map(({ after }) => (after as Job | undefined)?.ID));
  for (const other of childrenOf(parent, account)) {
    if (isNew.has(other.ID) || !isActive(other, account)) continue;
    fault(`${child.ID} launches while ${other.ID} is active`);
  }
}

function checkNewest(job: Job, { account, nowMs }: Scene, fault: Fault): void {
  const step = job.Stop ? undefined : stepSecondsOf(job.Periodic?.Specs?.[0] ?? '');
  if (step === undefined) return;
  const newest = Math.floor((nowMs - 1000 * graceSeconds) / 1000 / step) * step;
  const submitted = (job.SubmitTime ?? 0) / 1e9;
  if (newest <= submitted) return;
  const settled = settledOf(job, account);
  if (settled < newest) fault(`slot ${newest} of ${job.ID} was missed: the last one is ${settled}`);
}

/** The newest slot that was launched or skipped, in seconds. */
const settledOf = ({ Namespace, ID }: Job, account: Account): number =>
  (account.get(periodicLaunches, 'default', Namespace, ID)?.Launch ?? 0) / 1e9;

function* childrenOf({ ID, Namespace }: Job, account: Account): Iterable<Job> {
  for (const job of account.rows(jobs).values()) {
    if (job.ParentID === ID && job.Namespace === Namespace) yield job;
  }
}

function isActive({ ID, Namespace }: Job, account: Account): boolean {
  for (const one of account.allocationsOf({ Namespace, JobID: ID })) if (isLive(one)) return true;
  for (const one of account.rows(evaluations).values()) {
    if (isOf(one, ID) && !isTerminalEvaluation(one)) return true;
  }
  return false;
}

const isOf = ({ JobID }: Evaluation, id: string): boolean => JobID === id;

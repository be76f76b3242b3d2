import { Heap } from '../../base/heap.ts';
import type { Timer } from '../../base/ports.ts';
import { visitSlice } from '../../base/slices.ts';
import type { Job } from '../../model/job/job.ts';
import { isPeriodic } from '../../model/job/job-rules.ts';
import { nextLaunch } from '../../model/job/periodic-launch.ts';
import { limits } from '../../model/limits.ts';
import type { PeriodicLaunch } from '../../model/periodic-launch/periodic-launch.ts';
import { inNamespace, jobs, periodicLaunches } from '../../state/tables.ts';
import type { Change, Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { launchIfDue } from '../jobs/launch.ts';
import { settledUntilMs } from '../jobs/launches.ts';
import { writeEventually } from '../write-eventually.ts';

interface JobName {
  readonly namespace: string;
  readonly jobId: string;
}

interface Due extends JobName {
  readonly dueMs: number;
}

/**
 * Launches periodic jobs when they are due.
 *
 * Invariants
 *  P1. Everything it keeps is derived from the state: a new leader knows what the leader before it
 *      knew, and makes up for a missed slot, once.
 *  P2. It only decides when to look. The transaction that launches a slot decides whether it is due,
 *      and settles it: no slot launches twice, however often it is looked at and wherever the
 *      program ends.
 *  P3. It looks at the time at least every `limits.periodic.recheckMs`, since the machine's clock may
 *      jump: if ahead, skipped slots are made up for; if back, it waits for the first slot that is
 *      not settled.
 *  P4. Looking and launching give way to others after `limits.periodic.sliceMs` and, if the clock
 *      stands still, after `limits.periodic.launchesPerTransactionMax`.
 */
export class PeriodicLauncher {
  readonly #context: ServerContext;
  readonly #stopping = new AbortController();
  /** When each job is due. Other entries of the heap are out of date. */
  readonly #due = new Map<string, Due>();
  #heap = newHeap();
  /** Jobs that changed, whose next slot has to be computed again. */
  readonly #news = new Map<string, JobName>();
  #next: Timer | undefined;
  #isBusy = false;
  #unsubscribe: (() => void) | undefined;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  start(): void {
    const { state } = this.#context;
    this.#unsubscribe = state.onCommit((changes) => this.#followCommit(changes));
    for (const job of state.read().table(jobs).by('periodic').scan()) this.#noteJob(job);
    this.#scheduleTurn();
  }

  stop(): void {
    this.#stopping.abort();
    this.#unsubscribe?.();
    this.#next?.clear();
    this.#due.clear();
    this.#news.clear();
    this.#heap = newHeap();
  }

  #followCommit(changes: readonly Change[]): void {
    for (const { table, before, after } of changes) {
      if (table === jobs.name) {
        const job = (after ?? before) as Job;
        if (isPeriodic(job)) this.#noteJob(job);
      } else if (table === periodicLaunches.name) {
        const { Namespace, JobID: ID } = (after ?? before) as PeriodicLaunch;
        this.#noteJob({ Namespace, ID });
      }
    }
    if (this.#news.size > 0 && !this.#isBusy) this.#scheduleTurn();
  }

  #noteJob({ Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): void {
    this.#news.set(`${Namespace}\0${ID}`, { namespace: Namespace, jobId: ID });
  }

  #scheduleTurn(): void {
    this.#next?.clear();
    if (this.#stopping.signal.aborted) return;
    this.#next = this.#context.world.timers.soon(() => void this.#runTurn());
  }

  #scheduleTurnIn(delayMs: number): void {
    this.#next?.clear();
    if (this.#stopping.signal.aborted) return;
    this.#next = this.#context.world.timers.after(delayMs, () => void this.#runTurn());
  }

  /** Does one slice of the work, then sets the next slice or a time to wait. */
  async #runTurn(): Promise<void> {
    this.#next = undefined;
    if (this.#isBusy) return;
    this.#isBusy = true;
    let waitMs = 0;
    try {
      this.#learnDueTimes();
      if (this.#news.size === 0) waitMs = await this.#launchDue();
    } catch (error) {
      waitMs = limits.periodic.retryMs;
      this.#logFailure(error as Error);
    } finally {
      this.#isBusy = false;
    }
    if (this.#news.size > 0 || waitMs === 0) this.#scheduleTurn();
    else if (this.#due.size > 0) this.#scheduleTurnIn(waitMs);
  }

  #logFailure(error: Error): void {
    const { state, log } = this.#context;
    if (this.#stopping.signal.aborted || state.closed !== undefined) return;
    log.error({ error }, 'periodic jobs could not be launched; the launcher tries again');
  }

  /** Computes when the changed jobs are due. */
  #learnDueTimes(): void {
    const { state, world } = this.#context;
    const snapshot = state.read();
    const learn = ([key, name]: readonly [string, JobName]) => {
      this.#news.delete(key);
      const job = snapshot.table(jobs).get(...inNamespace(name.namespace, name.jobId));
      const dueMs = job && nextLaunch(job, settledUntilMs(snapshot, job));
      if (this.#due.get(key)?.dueMs === dueMs) return false;
      if (dueMs === undefined) this.#due.delete(key);
      else this.#awaitJob(key, { ...name, dueMs });
      return true;
    };
    visitSlice(this.#news, learn, world.clock, limits.periodic);
  }

  #awaitJob(key: string, due: Due): void {
    this.#due.set(key, due);
    this.#heap.push(due);
    // Entries out of date are dropped when their time comes, unless there are many.
    if (this.#heap.size < 2 * this.#due.size + 1024) return;
    this.#heap = newHeap();
    for (const one of this.#due.values()) this.#heap.push(one);
  }

  /** Launches some of the due jobs. Resolves with the time to wait until there is more to do. */
  async #launchDue(): Promise<number> {
    const { state, world, openEvaluations } = this.#context;
    const nowMs = world.clock.nowMs();
    const batch = this.#takeDue(nowMs);
    if (batch.length === 0) {
      const { recheckMs } = limits.periodic;
      return Math.min((this.#heap.peek()?.dueMs ?? Number.POSITIVE_INFINITY) - nowMs, recheckMs);
    }
    if (openEvaluations() >= limits.evaluation.queueMax) {
      for (const due of batch) this.#heap.push(due);
      return limits.periodic.retryMs;
    }
    try {
      const done = await writeEventually(
        { state, timers: world.timers },
        (transaction) => this.#launchSome(transaction, batch),
        this.#stopping.signal,
      );
      for (const due of batch.slice(0, done)) this.#settleSlot(due);
      for (const due of batch.slice(done)) this.#heap.push(due);
    } catch (error) {
      for (const due of batch) this.#heap.push(due);
      throw error;
    }
    return 0;
  }

  #takeDue(nowMs: number): readonly Due[] {
    const batch: Due[] = [];
    while (batch.length < limits.periodic.launchesPerTransactionMax) {
      const due = this.#heap.peek();
      if (due === undefined) break;
      const isCurrent = this.#due.get(keyOf(due)) === due;
      if (isCurrent && due.dueMs > nowMs) break;
      this.#heap.pop();
      if (isCurrent) batch.push(due);
    }
    return batch;
  }

  /** Returns how many jobs there was time for. */
  #launchSome(transaction: Transaction, batch: readonly Due[]): number {
    const { world } = this.#context;
    const launch = (due: Due) => {
      const outcome = launchIfDue(transaction, world, due);
      if (outcome === 'taken' || outcome === 'not-allowed') this.#logSkipped(due, outcome);
    };
    return visitSlice(batch, launch, world.clock, limits.periodic);
  }

  #logSkipped({ jobId, dueMs }: Due, outcome: keyof typeof reasons): void {
    const slot = new Date(dueMs).toISOString();
    this.#context.log.info({ job: jobId, slot }, reasons[outcome]);
  }

  /** The job's next slot is computed from the state again. */
  #settleSlot(due: Due): void {
    const key = keyOf(due);
    if (this.#due.get(key) === due) this.#due.delete(key);
    this.#news.set(key, due);
  }
}

/** Why a slot was skipped, or launched nothing. */
const reasons = {
  taken: 'a launch by hand came in the second of a slot',
  'not-allowed': 'a launch was left out: the namespace does not allow the job any more',
} as const;

const keyOf = ({ namespace, jobId }: JobName): string => `${namespace}\0${jobId}`;

const newHeap = () =>
  new Heap<Due>((left, right) => left.dueMs - right.dueMs || (left.jobId < right.jobId ? -1 : 1));

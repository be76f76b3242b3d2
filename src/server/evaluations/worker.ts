import { instantFromMs } from '../../base/instant.ts';
import type { Timer } from '../../base/ports.ts';
import type { Steps } from '../../base/steps.ts';
import { type Evaluation, isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import { limits } from '../../model/limits.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { isSame } from '../../model/same.ts';
import { SchedulerMemory } from '../../scheduler/memory/memory.ts';
import { conflictEvaluation, scheduleSteps } from '../../scheduler/schedule.ts';
import type { SchedulerResult } from '../../scheduler/view.ts';
import { evaluations, inNamespace, jobs } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { refreshJobStatus } from '../jobs/status.ts';
import { setQueued } from '../jobs/summary.ts';
import { applyPlan, type KnownOccupancies, type Rejection } from '../plans/apply.ts';
import { splitPlan } from '../plans/split.ts';
import type { ConfigurationFor } from '../scheduler-configuration/read.ts';
import type { Delivery } from './broker.ts';
import type { Decisions } from './decisions.ts';
import type { EvaluationDispatcher } from './dispatcher.ts';
import { settleBlocked } from './settle.ts';
import { clusterView } from './view.ts';

/**
 * Takes evaluations from the broker, has them decided and commits what came out.
 *
 * Invariants
 *  W1. It decides on the speculative head, one evaluation at a time: the next one sees all that the
 *      one before did. What others write between two steps is found by the applier, which checks
 *      every touched node again; then the evaluation is decided once more.
 *  W2. It holds the main thread for `limits.scheduler.sliceMs`, and for as long as one step or one
 *      part of a plan takes beyond that, then lets others go first, and the collector mark.
 *  W3. An evaluation is acknowledged once its result is durable, and never before. The next one is
 *      decided meanwhile.
 */
export class EvaluationWorker {
  readonly #context: ServerContext;
  readonly #dispatcher: EvaluationDispatcher;
  readonly #configuration: ConfigurationFor;
  readonly #decisions: Decisions;
  readonly #memory = new SchedulerMemory();
  /** What the memory knows of the state before a transaction. */
  readonly #knownOccupancyOf: KnownOccupancies = (nodeId, index) =>
    this.#memory.occupancyOf(nodeId, index - 1);
  /** How long slices that are over took, and when the one under way began. */
  #workedMs = 0;
  #sliceStartMs = 0;
  /** What is being decided. */
  #work: Steps<void> | undefined;
  /** Evaluations that are being decided, or decided and not yet durable. */
  #inFlight = 0;
  #next: Timer | undefined;
  #unsubscribe: (() => void) | undefined;
  #stopped = false;

  constructor(
    context: ServerContext,
    dispatcher: EvaluationDispatcher,
    configuration: ConfigurationFor,
    decisions: Decisions,
  ) {
    this.#context = context;
    this.#dispatcher = dispatcher;
    this.#configuration = configuration;
    this.#decisions = decisions;
  }

  start(): void {
    const { state } = this.#context;
    this.#unsubscribe = state.onRan((changes, index) => {
      this.#memory.noteChanges(changes, index);
      this.#decisions.changed(changes.length);
    });
    this.#await();
  }

  stop(): void {
    this.#stopped = true;
    this.#next?.clear();
    this.#unsubscribe?.();
  }

  #await(): void {
    this.#dispatcher.broker.whenReady(() => this.#soon());
  }

  #soon(): void {
    if (this.#stopped || this.#next !== undefined) return;
    this.#next = this.#context.world.timers.unhurried(() => {
      this.#next = undefined;
      this.#slice();
    });
  }

  #slice(): void {
    const { clock } = this.#context.world;
    const { sliceMs, sliceSteps } = limits.scheduler;
    this.#sliceStartMs = clock.monotonicMs();
    const endMs = this.#sliceStartMs + sliceMs;
    for (let step = 0; step < sliceSteps; step++) {
      this.#work ??= this.#take();
      if (this.#work === undefined) return;
      if (this.#work.next().done) this.#work = undefined;
      if (clock.monotonicMs() >= endMs) break;
    }
    this.#workedMs += clock.monotonicMs() - this.#sliceStartMs;
    this.#soon();
  }

  /** The next evaluation, if there is one and the pipeline has room for it. */
  #take(): Steps<void> | undefined {
    // A full pipeline goes on as soon as there is room in it again.
    if (this.#inFlight >= limits.scheduler.plansQueuedMax) return undefined;
    const delivery = this.#dispatcher.broker.take();
    if (delivery === undefined) {
      this.#await();
      return undefined;
    }
    this.#inFlight++;
    return this.#process(delivery);
  }

  *#process(delivery: Delivery<Evaluation>): Steps<void> {
    const written: Promise<unknown>[] = [];
    const note = (promise: Promise<unknown>): void => {
      // It is looked at when all is decided; until then, that it failed is no news.
      promise.catch(() => {});
      written.push(promise);
    };
    let waitsOn: number | undefined;
    try {
      waitsOn = yield* this.#decide(delivery.evaluation, note);
    } catch (error) {
      note(Promise.reject(error));
    }
    void this.#conclude(delivery, written, waitsOn);
  }

  /** `waitsOn`: the evaluation goes on waiting, and has seen the state up to this index. */
  async #conclude(
    delivery: Delivery<Evaluation>,
    written: readonly Promise<unknown>[],
    waitsOn: number | undefined,
  ): Promise<void> {
    const { log, state } = this.#context;
    const { evaluation } = delivery;
    const cancel = (superfluous: readonly Evaluation[]): void =>
      this.#dispatcher.cancel(
        superfluous,
        `canceled after evaluation "${evaluation.ID}" of the same job`,
      );
    try {
      await Promise.all(written);
      if (waitsOn !== undefined) this.#dispatcher.waitsOn(evaluation, waitsOn);
      cancel(delivery.ack());
    } catch (error) {
      if (this.#stopped || state.closed !== undefined) return;
      log.error({ evaluation: evaluation.ID, job: evaluation.JobID, error }, 'evaluation failed');
      cancel(delivery.nack());
    } finally {
      this.#dispatcher.decided(evaluation);
      if (this.#inFlight-- === limits.scheduler.plansQueuedMax) this.#soon();
    }
  }

  /** After too many rejections it fails, and another waits in its place. */
  *#decide(evaluation: Evaluation, note: Note): Steps<number | undefined> {
    const { log } = this.#context;
    const attempts =
      evaluation.Type === 'batch' || evaluation.Type === 'sysbatch'
        ? limits.evaluation.planAttemptsBatchMax
        : limits.evaluation.planAttemptsServiceMax;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const { result, index } = yield* this.#schedule(evaluation, attempt);
      const rejections = yield* this.#commit(evaluation, result, note);
      if (rejections === 'unchanged') return index;
      if (rejections === 'unwritten' || rejections.length === 0) return undefined;
      log.warn({ evaluation: evaluation.ID, rejections }, 'plan did not fit any more');
    }
    this.#write(note, (transaction) =>
      failForConflicts(transaction, this.#context, evaluation, attempts),
    );
    return undefined;
  }

  *#schedule(evaluation: Evaluation, attempt: number) {
    const { state, world } = this.#context;
    const view = clusterView(state.head(), this.#configuration(evaluation));
    const session = this.#memory.begin(view);
    const nowMs = world.clock.nowMs();
    const elapsedNs = () => this.#elapsedNs();
    try {
      const options = { nowMs, ids: world.ids, attempt, session, elapsedNs };
      const result = yield* scheduleSteps(view, evaluation, options);
      this.#decisions.note({ view, evaluation, nowMs, attempt }, result.plan);
      return { result, index: view.index };
    } finally {
      session.end();
    }
  }

  /** Work alone: what others do between two slices does not count. */
  #elapsedNs(): number {
    const { clock } = this.#context.world;
    return Math.round((this.#workedMs + clock.monotonicMs() - this.#sliceStartMs) * 1e6);
  }

  /** The parts of the plan in turn; what is left of them after a rejection is decided anew. */
  *#commit(
    evaluation: Evaluation,
    { plan, isEmpty, outcome }: SchedulerResult,
    note: Note,
  ): Steps<Committed | 'unwritten'> {
    const parts = yield* splitPlan(plan, limits.scheduler.planRowsMax);
    const last = parts.length - 1;
    for (const part of parts.slice(0, last)) {
      const rejections = this.#write(note, (transaction) =>
        commitPart(transaction, this.#context, evaluation, part, this.#knownOccupancyOf),
      );
      yield;
      if (rejections === 'unwritten' || rejections.length > 0) return rejections;
    }
    const result = { plan: parts[last]!, isEmpty, outcome };
    return this.#write(note, (transaction) =>
      commitDecision(transaction, this.#context, evaluation, result, this.#knownOccupancyOf),
    );
  }

  /** Runs on the head at once; what comes of it is durable when the noted promise resolves. */
  #write<T>(note: Note, run: (transaction: Transaction) => T): T | 'unwritten' {
    let value: T | 'unwritten' = 'unwritten';
    note(
      this.#context.state.write((transaction) => {
        value = run(transaction);
      }),
    );
    return value;
  }
}

type Note = (promise: Promise<unknown>) => void;

/** `unchanged`: it goes on waiting as it did, and there is nothing to write. */
type Committed = readonly Rejection[] | 'unchanged';

/** What is still open of an evaluation: its job may be purged, or it be canceled, meanwhile. */
function openEvaluation(transaction: Transaction, { Namespace, ID }: Evaluation) {
  const stored = transaction.table(evaluations).get(...inNamespace(Namespace, ID));
  return stored === undefined || isTerminalEvaluation(stored) ? undefined : stored;
}

/** A part of a plan that is not the last one. */
function commitPart(
  transaction: Transaction,
  { world }: ServerContext,
  evaluation: Evaluation,
  part: Plan,
  knownOccupancyOf: KnownOccupancies,
): readonly Rejection[] {
  if (openEvaluation(transaction, evaluation) === undefined) return [];
  return applyPlan(transaction, world, part, knownOccupancyOf);
}

/** The last part of a plan, and what becomes of the evaluation. */
export function commitDecision(
  transaction: Transaction,
  { world }: Pick<ServerContext, 'world'>,
  evaluation: Evaluation,
  { plan, isEmpty, outcome }: SchedulerResult,
  knownOccupancyOf?: KnownOccupancies,
): Committed {
  const table = transaction.table(evaluations);
  const { Namespace, JobID } = evaluation;
  const stored = openEvaluation(transaction, evaluation);
  if (stored === undefined) return [];
  const decided = {
    ...stored,
    Status: outcome.status,
    StatusDescription: outcome.statusDescription,
    BlockedEval: outcome.blockedEvaluationId,
    DeploymentID: plan.deployment?.ID ?? stored.DeploymentID,
    FailedTGAllocs: outcome.failures,
    QueuedAllocations: outcome.queued,
    ClassEligibility: outcome.classEligibility,
    EscapedComputedClass: outcome.escapedComputedClass,
  };
  const waitsOn = outcome.status === 'blocked' && isEmpty && plan.evaluations.length === 0;
  if (waitsOn && isSame(stored, decided)) return 'unchanged';
  const rejections = applyPlan(transaction, world, plan, knownOccupancyOf);
  if (rejections.length > 0) return rejections;
  const ModifyTime = instantFromMs(world.clock.nowMs());
  table.put({ ...decided, SnapshotIndex: plan.snapshotIndex, ModifyTime });
  settleBlocked(transaction, world, stored, outcome);
  setQueued(transaction, Namespace, JobID, outcome.queued);
  refreshJobStatus(transaction, Namespace, JobID);
  return [];
}

/** Source: docs/behaviour/evaluations.md#attempts. */
function failForConflicts(
  transaction: Transaction,
  { world }: ServerContext,
  { Namespace, ID }: Evaluation,
  attempts: number,
): void {
  const table = transaction.table(evaluations);
  const stored = table.get(...inNamespace(Namespace, ID));
  if (stored === undefined || isTerminalEvaluation(stored)) return;
  const { ids, clock } = world;
  const nowMs = clock.nowMs();
  const job = transaction.table(jobs).get(...inNamespace(Namespace, stored.JobID));
  const next = job && table.put(conflictEvaluation(transaction.index, stored, job, { nowMs, ids }));
  table.put({
    ...stored,
    Status: 'failed',
    StatusDescription: `maximum attempts reached (${attempts})`,
    BlockedEval: next?.ID ?? '',
    ModifyTime: instantFromMs(nowMs),
  });
}

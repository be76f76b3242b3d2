import { instantFromMs } from '../../base/instant.ts';
import type { Timer } from '../../base/ports.ts';
import { type Evaluation, isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import { limits } from '../../model/limits.ts';
import { isSame } from '../../model/same.ts';
import { conflictEvaluation, schedule } from '../../scheduler/schedule.ts';
import type { SchedulerConfiguration, SchedulerResult } from '../../scheduler/view.ts';
import { evaluations, inNamespace, jobs } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { refreshJobStatus } from '../jobs/status.ts';
import { setQueued } from '../jobs/summary.ts';
import { applyPlan, type Rejection } from '../plans/apply.ts';
import type { Delivery } from './broker.ts';
import { cancelAll } from './cancel.ts';
import type { EvaluationDispatcher } from './dispatcher.ts';
import { clusterView, Occupancies } from './view.ts';

/**
 * Takes evaluations from the broker, has them decided and commits what came out.
 *
 * Invariants
 *  W1. It decides on the speculative head and commits after all that it saw, so that evaluations
 *      in a row do not reject each other's plans.
 *  W2. It holds the main thread for `limits.scheduler.sliceMs` at most, then lets others go first.
 *  W3. An evaluation is acknowledged once its result is durable, and never before.
 */
export class EvaluationWorker {
  readonly #context: ServerContext;
  readonly #dispatcher: EvaluationDispatcher;
  readonly #configuration: () => SchedulerConfiguration;
  readonly #occupancies = new Occupancies();
  #inFlight = 0;
  #next: Timer | undefined;
  #stopped = false;

  constructor(
    context: ServerContext,
    dispatcher: EvaluationDispatcher,
    configuration: () => SchedulerConfiguration,
  ) {
    this.#context = context;
    this.#dispatcher = dispatcher;
    this.#configuration = configuration;
  }

  start(): void {
    this.#dispatcher.broker.whenReady(() => this.#soon());
  }

  stop(): void {
    this.#stopped = true;
    this.#next?.clear();
  }

  #soon(): void {
    if (this.#stopped || this.#next !== undefined) return;
    this.#next = this.#context.world.timers.soon(() => {
      this.#next = undefined;
      this.#slice();
    });
  }

  #slice(): void {
    const { clock } = this.#context.world;
    const endMs = clock.monotonicMs() + limits.scheduler.sliceMs;
    while (this.#inFlight < limits.scheduler.plansQueuedMax) {
      const delivery = this.#dispatcher.broker.take();
      if (delivery === undefined) {
        this.start();
        return;
      }
      this.#inFlight++;
      void this.#process(delivery).finally(() => {
        // A full pipeline goes on as soon as there is room in it again.
        if (this.#inFlight-- === limits.scheduler.plansQueuedMax) this.#soon();
      });
      if (clock.monotonicMs() < endMs) continue;
      this.#soon();
      return;
    }
  }

  async #process(delivery: Delivery<Evaluation>): Promise<void> {
    const { log } = this.#context;
    const { evaluation } = delivery;
    try {
      await this.#decide(evaluation);
      const description = `canceled after evaluation "${evaluation.ID}" of the same job`;
      this.#dispatcher.cancel(delivery.ack(), description);
    } catch (error) {
      if (this.#stopped || this.#context.state.closed !== undefined) return;
      log.error({ evaluation: evaluation.ID, job: evaluation.JobID, error }, 'evaluation failed');
      delivery.nack();
    } finally {
      this.#dispatcher.decided(evaluation);
    }
  }

  /** After too many rejections it fails, and another waits in its place. */
  async #decide(evaluation: Evaluation): Promise<void> {
    const { state, world, log } = this.#context;
    const attempts =
      evaluation.Type === 'batch' || evaluation.Type === 'sysbatch'
        ? limits.evaluation.planAttemptsBatchMax
        : limits.evaluation.planAttemptsServiceMax;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const view = clusterView(state.head(), this.#configuration(), this.#occupancies);
      const options = { nowMs: world.clock.nowMs(), ids: world.ids, attempt };
      const result = schedule(view, evaluation, options);
      const { value } = await state.write((transaction) =>
        commit(transaction, this.#context, evaluation, result),
      );
      if (value === 'unchanged') this.#dispatcher.waitsOn(evaluation, view.index);
      if (value === 'unchanged' || value.length === 0) return;
      log.warn({ evaluation: evaluation.ID, rejections: value }, 'plan did not fit any more');
    }
    await state.write((transaction) =>
      failForConflicts(transaction, this.#context, evaluation, attempts),
    );
  }
}

/** `unchanged`: it goes on waiting as it did, and there is nothing to write. */
function commit(
  transaction: Transaction,
  { world }: ServerContext,
  evaluation: Evaluation,
  { plan, isEmpty, outcome }: SchedulerResult,
): readonly Rejection[] | 'unchanged' {
  const table = transaction.table(evaluations);
  const { Namespace, JobID } = evaluation;
  const stored = table.get(...inNamespace(Namespace, evaluation.ID));
  // Its job was purged, or it was canceled, while it was decided.
  if (stored === undefined || isTerminalEvaluation(stored)) return [];
  const decided = {
    ...stored,
    Status: outcome.status,
    StatusDescription: outcome.statusDescription,
    BlockedEval: outcome.blockedEvaluationId,
    FailedTGAllocs: outcome.failures,
    QueuedAllocations: outcome.queued,
    ClassEligibility: outcome.classEligibility,
    EscapedComputedClass: outcome.escapedComputedClass,
  };
  const waitsOn = outcome.status === 'blocked' && isEmpty && plan.evaluations.length === 0;
  if (waitsOn && isSame(stored, decided)) return 'unchanged';
  const rejections = applyPlan(transaction, world, plan);
  if (rejections.length > 0) return rejections;
  const ModifyTime = instantFromMs(world.clock.nowMs());
  table.put({ ...decided, SnapshotIndex: plan.snapshotIndex, ModifyTime });
  if (outcome.status === 'complete' && outcome.blockedEvaluationId === '') {
    cancelBlocked(transaction, world, stored);
  }
  setQueued(transaction, Namespace, JobID, outcome.queued);
  refreshJobStatus(transaction, Namespace, JobID);
  return [];
}

/** Source: facts/scheduler.md §6.1 "Attempts". */
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

/** All is placed: what waited for room of the same job has nothing to wait for. */
function cancelBlocked(
  transaction: Transaction,
  world: ServerContext['world'],
  by: Evaluation,
): void {
  const range = { prefix: inNamespace(by.Namespace, by.JobID) };
  const blocked = [...transaction.table(evaluations).by('open').scan(range)].filter(
    (one) => one.Status === 'blocked' && one.ID !== by.ID,
  );
  const description = `canceled after evaluation "${by.ID}" placed everything`;
  cancelAll(transaction, { world }, blocked, description);
}

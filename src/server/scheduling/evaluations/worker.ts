import type { Histogram } from '../../../base/histogram.ts';
import type { Timer } from '../../../base/ports.ts';
import { WorkTime } from '../../../base/slices.ts';
import type { Steps } from '../../../base/steps.ts';
import { Timing } from '../../../base/timing.ts';
import type { Evaluation } from '../../../model/evaluation/evaluation.ts';
import { limits } from '../../../model/limits.ts';
import { SchedulerMemory } from '../../../scheduler/memory/memory.ts';
import { scheduleSteps } from '../../../scheduler/schedule.ts';
import type {
  ClusterView,
  SchedulerConfiguration,
  SchedulerResult,
} from '../../../scheduler/view.ts';
import type { Transaction } from '../../../state/types.ts';
import type { ServerContext } from '../../context.ts';
import type { ConfigurationFor } from '../../scheduler-configuration/read.ts';
import { clusterView } from '../cluster-view.ts';
import type { Decider, Question } from '../decider/decider.ts';
import type { KnownOccupancies } from '../plans/apply.ts';
import { splitPlan } from '../plans/split.ts';
import type { Delivery } from './broker.ts';
import { type Committed, commitDecision, commitPart, failForConflicts } from './commit.ts';
import type { Decisions } from './decisions.ts';
import type { EvaluationDispatcher } from './dispatcher.ts';
import { SeenHead } from './seen-head.ts';

/** A decision that is perhaps not durable yet. */
interface Decided {
  readonly written: readonly Promise<unknown>[];
  readonly beganMs: number | undefined;
  /** The evaluation goes on waiting, and has seen the state up to this index. */
  readonly waitsOn: number | undefined;
}

/** Times and counts of the decisions of a term, for metrics. */
export interface DecisionFigures {
  /** From the beginning of a decision until it is durable. */
  readonly seconds: Histogram;
  /** Plans that did not fit any more when they were committed. */
  refusedPlans: number;
  /** Decisions of the decider, as long as there is one. */
  decidedApart: number;
}

export interface EvaluationWorkerParts {
  readonly dispatcher: EvaluationDispatcher;
  readonly configuration: ConfigurationFor;
  readonly decisions: Decisions;
  /** Starts the decider of the term; `undefined`: the worker decides. */
  readonly startDecider?: (() => Decider) | undefined;
}

/** The slices of W5. */
const pacedSlices = { ...limits.scheduler, sliceMs: limits.scheduler.pacedSliceMs };

/** Not in limits: the upper bounds of the buckets, in seconds. Dashboards know them. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/**
 * Takes evaluations from the broker, decides them, and commits the plans.
 *
 * Invariants
 *  W1. It decides on the speculative head, one evaluation at a time: the next one sees everything that
 *      this one did. Writes of others between two steps are found by the applier, which checks every
 *      touched node again; a refused evaluation is decided again.
 *  W2. It holds the main thread for `limits.scheduler.sliceMs`, and as long as one step or one part of
 *      a plan takes beyond that. Then others go first, and the garbage collector may mark.
 *  W3. An evaluation is acknowledged once its result is durable, and never before. The next one is
 *      decided meanwhile.
 *  W4. Where a decider follows the head, it decides in place of the main thread, which waits for it (W1) and does
 *      other work meanwhile. Without an answer of it, the evaluation is decided here.
 *  W5. While writes that somebody waits for follow each other, its slices are shorter (`pacedSliceMs`), and after each it
 *      rests for as long as the slice took, and a millisecond at least: a queue of evaluations, as after a burst, leaves
 *      them more than half of the time, and none of them waits for long.
 */
export class EvaluationWorker {
  readonly figures: DecisionFigures;
  readonly #timing: Timing;
  readonly #context: ServerContext;
  readonly #dispatcher: EvaluationDispatcher;
  readonly #configuration: ConfigurationFor;
  readonly #decisions: Decisions;
  readonly #memory = new SchedulerMemory();
  readonly #startDecider: EvaluationWorkerParts['startDecider'];
  #decider: Decider | undefined;
  /** Whether the evaluation that is being decided waits for the decider. */
  #isWaiting = false;
  /** The occupancy that the memory knows from before a transaction. */
  readonly #knownOccupancyOf: KnownOccupancies = (nodeId, index) =>
    this.#memory.occupancyOf(nodeId, index - 1);
  readonly #time: WorkTime;
  /** The steps of the evaluation that is being decided. */
  #work: Steps<void> | undefined;
  /** The state that this evaluation is decided on. */
  #seen: SeenHead | undefined;
  /** Evaluations that are being decided, or are decided and not yet durable. */
  #inFlight = 0;
  #next: Timer | undefined;
  #unsubscribe: (() => void) | undefined;
  #stopped = false;

  constructor(
    context: ServerContext,
    { dispatcher, configuration, decisions, startDecider }: EvaluationWorkerParts,
  ) {
    this.#timing = new Timing(bounds, context.stopwatch);
    this.figures = { seconds: this.#timing.seconds, refusedPlans: 0, decidedApart: 0 };
    this.#context = context;
    this.#dispatcher = dispatcher;
    this.#configuration = configuration;
    this.#decisions = decisions;
    this.#startDecider = startDecider;
    this.#time = new WorkTime(context.world.clock, limits.scheduler);
  }

  start(): void {
    const { state } = this.#context;
    this.#unsubscribe = state.onRan((changes, index) => {
      this.#memory.noteChanges(changes, index);
      this.#decisions.changed(changes.length);
    });
    this.#decider = this.#startDecider?.();
    this.#awaitEvaluation();
  }

  stop(): void {
    this.#stopped = true;
    this.#next?.clear();
    this.#unsubscribe?.();
    this.#decider?.stop();
  }

  #awaitEvaluation(): void {
    this.#dispatcher.broker.whenReady(() => this.#scheduleSlice());
  }

  #scheduleSlice(restMs = 0): void {
    if (this.#stopped || this.#next !== undefined) return;
    const { timers } = this.#context.world;
    const run = () => {
      this.#next = undefined;
      this.#runSlice();
    };
    this.#next =
      restMs > 0
        ? timers.after(restMs, () => {
            this.#next = timers.unhurried(run);
          })
        : timers.unhurried(run);
  }

  #runSlice(): void {
    if (this.#isWaiting) return;
    const startMs = this.#stopwatchMs();
    const { isPaced } = this.#context.state.figures;
    const isIdle = this.#time.take(this.#step, isPaced ? pacedSlices : limits.scheduler);
    if (isIdle) return;
    this.#seen?.keep();
    this.#scheduleSlice(isPaced ? this.#stopwatchMs() - startMs : 0);
  }

  /** Takes the next step. Returns whether there is nothing to do until others have worked. */
  readonly #step = (): boolean => {
    this.#work ??= this.#beginNext();
    if (this.#work === undefined) return true;
    if (this.#work.next().done) this.#work = undefined;
    return this.#isWaiting;
  };

  /** W5. Without a stopwatch there is no rest. */
  #stopwatchMs(): number {
    return this.#context.stopwatch?.monotonicMs() ?? 0;
  }

  /** Begins the next evaluation, if there is one and the pipeline has room for it. */
  #beginNext(): Steps<void> | undefined {
    // A full pipeline goes on as soon as it has room again.
    if (this.#inFlight >= limits.scheduler.plansQueuedMax) return undefined;
    const delivery = this.#dispatcher.broker.take();
    if (delivery === undefined) {
      this.#awaitEvaluation();
      return undefined;
    }
    this.#inFlight++;
    return this.#process(delivery);
  }

  *#process(delivery: Delivery<Evaluation>): Steps<void> {
    const beganMs = this.#timing.begin();
    const written: Promise<unknown>[] = [];
    const note = (promise: Promise<unknown>): void => {
      // Failures are handled when everything is decided; until then they are no unhandled
      // rejections.
      promise.catch(() => {});
      written.push(promise);
    };
    let waitsOn: number | undefined;
    try {
      waitsOn = yield* this.#decideEvaluation(delivery.evaluation, note);
    } catch (error) {
      note(Promise.reject(error));
    }
    void this.#conclude(delivery, { written, beganMs, waitsOn });
  }

  async #conclude(
    delivery: Delivery<Evaluation>,
    { written, beganMs, waitsOn }: Decided,
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
      this.#timing.end(beganMs);
      if (waitsOn !== undefined) this.#dispatcher.waitsOn(evaluation, waitsOn);
      cancel(delivery.ack());
    } catch (error) {
      if (this.#stopped || state.closed !== undefined) return;
      log.error({ evaluation: evaluation.ID, job: evaluation.JobID, error }, 'evaluation failed');
      cancel(delivery.nack());
    } finally {
      this.#dispatcher.decided(evaluation);
      if (this.#inFlight-- === limits.scheduler.plansQueuedMax) this.#scheduleSlice();
    }
  }

  /**
   * Decides again after a refusal. After too many refusals the evaluation fails, and another waits
   * in its place.
   */
  *#decideEvaluation(evaluation: Evaluation, note: Note): Steps<number | undefined> {
    const { log } = this.#context;
    const attempts =
      evaluation.Type === 'batch' || evaluation.Type === 'sysbatch'
        ? limits.evaluation.planAttemptsBatchMax
        : limits.evaluation.planAttemptsServiceMax;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const { result, index } = yield* this.#schedule(evaluation, attempt);
      const refusals = yield* this.#commit(evaluation, result, note);
      if (refusals === 'unchanged') return index;
      if (refusals === 'unwritten' || refusals.length === 0) return undefined;
      this.figures.refusedPlans++;
      log.warn({ evaluation: evaluation.ID, refusals }, 'plan did not fit any more');
    }
    this.#write(note, (transaction) =>
      failForConflicts(transaction, this.#context, evaluation, attempts),
    );
    return undefined;
  }

  *#schedule(evaluation: Evaluation, attempt: number): Steps<Scheduled> {
    const { state, world } = this.#context;
    const seen = new SeenHead(state);
    const view = clusterView(seen, this.#configuration(evaluation));
    const asked = { evaluation, attempt, nowMs: world.clock.nowMs() };
    const { index, configuration } = view;
    const isKept = this.#isKept;
    const answer = this.#decider?.decide({ ...asked, index, configuration });
    let result: SchedulerResult | undefined;
    if (answer === undefined) {
      this.#seen = seen;
      result = yield* this.#decideHere(view, asked);
      this.#seen = undefined;
      if (isKept && result.plan.placements.length > 0) seen.keep();
    } else {
      if (isKept) seen.keep();
      const told = yield* this.#awaited(answer);
      if (told === undefined) return yield* this.#schedule(evaluation, attempt);
      result = yield* told;
      this.figures.decidedApart++;
      yield* this.#knowNodes(configuration);
    }
    if (isKept) this.#decisions.note({ view, ...asked }, result.plan);
    return { result, index };
  }

  /** Whether a decision can be explained later. The decisions of a long queue take the place of each other. */
  get #isKept(): boolean {
    return this.#dispatcher.broker.counts.ready < limits.scheduler.decisionsKept;
  }

  *#decideHere(view: ClusterView, { evaluation, ...asked }: Asked): Steps<SchedulerResult> {
    const { ids } = this.#context.world;
    const session = this.#memory.begin(view);
    const elapsedNs = () => this.#time.elapsedNs();
    try {
      return yield* scheduleSteps(view, evaluation, { ...asked, ids, session, elapsedNs });
    } finally {
      session.end();
    }
  }

  /** Lets others work until the promise settles. */
  *#awaited<T>(promise: Promise<T>): Steps<T> {
    let outcome: (() => T) | undefined;
    const goOn = (told: () => T): void => {
      outcome = told;
      this.#isWaiting = false;
      this.#scheduleSlice();
    };
    this.#isWaiting = true;
    promise.then(
      (value) => goOn(() => value),
      (error) =>
        goOn(() => {
          throw error;
        }),
    );
    yield;
    return outcome!();
  }

  /** The memory follows the nodes also where it decides nothing, since the applier checks plans with it. */
  *#knowNodes(configuration: SchedulerConfiguration): Steps<void> {
    const seen = new SeenHead(this.#context.state);
    this.#seen = seen;
    const session = this.#memory.begin(clusterView(seen, configuration));
    try {
      yield* session.fleet();
    } finally {
      this.#seen = undefined;
      session.end();
    }
  }

  /** Commits the parts of the plan in turn, until one is refused. */
  *#commit(
    evaluation: Evaluation,
    { plan, isEmpty, outcome }: SchedulerResult,
    note: Note,
  ): Steps<Committed | 'unwritten'> {
    const options = { world: this.#context.world, knownOccupancyOf: this.#knownOccupancyOf };
    const { planRowsMax = limits.scheduler.planRowsMax } = this.#context;
    const parts = yield* splitPlan(plan, planRowsMax);
    const last = parts.length - 1;
    for (const part of parts.slice(0, last)) {
      const refusals = this.#write(note, (transaction) =>
        commitPart(transaction, options, evaluation, part),
      );
      yield;
      if (refusals === 'unwritten' || refusals.length > 0) return refusals;
    }
    const result = { plan: parts[last]!, isEmpty, outcome };
    return this.#write(note, (transaction) =>
      commitDecision(transaction, options, evaluation, result),
    );
  }

  /** Runs on the head at once; the result is durable when the noted promise resolves. */
  #write<T>(note: Note, run: (transaction: Transaction) => T): T | 'unwritten' {
    let value: T | 'unwritten' = 'unwritten';
    note(
      this.#context.state.write(
        (transaction) => {
          value = run(transaction);
        },
        { lingers: true },
      ),
    );
    return value;
  }
}

type Note = (promise: Promise<unknown>) => void;

type Asked = Pick<Question, 'evaluation' | 'attempt' | 'nowMs'>;

interface Scheduled {
  readonly result: SchedulerResult;
  /** Of the state that it was decided on. */
  readonly index: number;
}

import { assert } from '../../../base/assert.ts';
import type { World } from '../../../base/ports.ts';
import { drained } from '../../../base/steps.ts';
import { SchedulerMemory } from '../../../scheduler/memory/memory.ts';
import { scheduleSteps } from '../../../scheduler/schedule.ts';
import { DurableIndex } from '../../../state/engine/durable-index.ts';
import { ReaderEngine } from '../../../state/engine/reader.ts';
import { openState } from '../../../state/state.ts';
import { allTables } from '../../../state/tables.ts';
import type { State } from '../../../state/types.ts';
import { clusterView } from '../cluster-view.ts';
import type { FromDecider, Question, ToDecider } from './decider.ts';
import { deciderLimits } from './limits.ts';
import { packed } from './packed-result.ts';

export interface FollowingOptions {
  readonly world: Pick<World, 'clock' | 'timers' | 'ids'>;
  readonly tell: (message: FromDecider) => void;
  /** Told of the bytes of each message that was taken. */
  readonly note: (bytes: number) => void;
  /** The state cannot be followed any more. */
  readonly fail: (error: unknown) => void;
}

/**
 * The inside of a decider: a copy of the head of another thread, and what the scheduler remembers of it.
 *
 * Invariants
 *  F1. It answers questions in the order in which they come, each before it takes another message.
 *  F2. It decides only on the state at the index of the question.
 */
export class FollowingDecider {
  readonly #options: FollowingOptions;
  readonly #engine: ReaderEngine;
  readonly #memory = new SchedulerMemory();
  #state: State | undefined;

  constructor(options: FollowingOptions) {
    this.#options = options;
    // Nobody asks it for reads that must be exact.
    this.#engine = new ReaderEngine(new DurableIndex(), options.note);
    this.#openState().catch(options.fail);
  }

  take(message: ToDecider): void {
    if (message.kind === 'decide') this.#answerQuestion(message.question);
    else this.#engine.take(message);
  }

  async close(): Promise<void> {
    await this.#state?.close();
  }

  async #openState(): Promise<void> {
    const { tell, fail, world } = this.#options;
    const { timers } = world;
    const state = await openState({
      tables: allTables,
      engine: this.#engine,
      timers,
      report: fail,
    });
    state.onRan((changes, index) => this.#memory.noteChanges(changes, index));
    this.#state = state;
    tell({ kind: 'ready' });
  }

  #answerQuestion(question: Question): void {
    const { tell } = this.#options;
    try {
      const result = packed(this.#decideEvaluation(question), deciderLimits.rowsOfPart);
      tell({ kind: 'decided', result });
    } catch (error) {
      tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #decideEvaluation({ index, evaluation, configuration, attempt, nowMs }: Question) {
    const { clock, ids } = this.#options.world;
    assert(this.#state !== undefined, 'a decider is asked once it is ready');
    const view = clusterView(this.#state.read(), configuration);
    assert(view.index === index, `the decider shows ${view.index}, and was asked at ${index}`);
    const session = this.#memory.begin(view);
    const startMs = clock.monotonicMs();
    const elapsedNs = () => Math.round((clock.monotonicMs() - startMs) * 1e6);
    try {
      return drained(scheduleSteps(view, evaluation, { nowMs, ids, attempt, session, elapsedNs }));
    } finally {
      session.end();
    }
  }
}

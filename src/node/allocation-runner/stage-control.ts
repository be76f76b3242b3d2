import type { Timers } from '../../base/ports.ts';
import type { AllocationHooks } from './allocation-hooks.ts';
import type { AllocationRecord } from './allocation-record.ts';
import type { AllocationTasks } from './allocation-tasks.ts';
import { endInRounds, waitShutdownDelay } from './ending.ts';
import type { Specification } from './specification.ts';
import { type EndReason, endReason, hookOf } from './stages.ts';

export interface StageControlParts {
  readonly timers: Timers;
  readonly specification: Specification;
  readonly record: AllocationRecord;
  readonly tasks: AllocationTasks;
  readonly hooks: AllocationHooks;
  /** Called after each evaluation of the tasks' states. */
  readonly evaluated: () => void;
}

/** Starts and ends an allocation's tasks as their states demand (`stages.ts`). */
export class StageControl {
  readonly #parts: StageControlParts;
  /** Aborted to skip the shutdown delay of the group. */
  readonly #hurry = new AbortController();
  #isEnding = false;
  #isEvaluating = false;
  #isPreparing = false;
  #isClosed = false;
  /** How many holds keep tasks from starting. */
  #holds = 0;

  constructor(parts: StageControlParts) {
    this.#parts = parts;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** No task starts before `until` has resolved. */
  hold(until: Promise<unknown>): void {
    this.#holds++;
    void until.then(() => {
      this.#holds--;
      this.evaluate();
    });
  }

  /** No task starts, and none is ended, before `work` has resolved. */
  async prepare(work: () => Promise<void>): Promise<void> {
    this.#isPreparing = true;
    try {
      await work();
    } finally {
      this.#isPreparing = false;
    }
  }

  evaluate(): void {
    if (this.#isEvaluating || this.#isClosed || this.#isPreparing) return;
    const { specification, record, tasks, evaluated } = this.#parts;
    this.#isEvaluating = true;
    try {
      const reason = this.#timeIsUp ?? endReason(specification.tasks, tasks.states);
      if (record.stopping || reason !== undefined) this.#endTasks(reason);
      tasks.startAllowed(
        (task) =>
          !this.isHeld && !record.expired && (!this.#isEnding || hookOf(task) === 'poststop'),
      );
    } finally {
      this.#isEvaluating = false;
    }
    tasks.endLeftovers();
    evaluated();
  }

  /** Also while the delay lasts. */
  skipShutdownDelay(): void {
    this.#hurry.abort();
    for (const task of this.#parts.tasks.all) task.skipShutdownDelay();
  }

  /** Starts and ends nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#hurry.abort();
  }

  /** Why the allocation must end, whatever its tasks do. */
  get #timeIsUp(): EndReason | undefined {
    const { record, specification } = this.#parts;
    const { MaxRunDuration, Disconnect } = specification.group ?? {};
    if (record.expired) return { kind: 'max-run-duration', duration: MaxRunDuration ?? 0 };
    if (!record.cutOff) return undefined;
    return { kind: 'no-contact', duration: Disconnect?.StopOnClientAfter ?? 0 };
  }

  #endTasks(reason: EndReason | undefined): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    void this.#runEnding(reason);
  }

  async #runEnding(reason: EndReason | undefined): Promise<void> {
    const { timers, specification, record, tasks, hooks } = this.#parts;
    const ended = specification.tasks;
    await hooks.ending();
    await waitShutdownDelay({
      timers,
      delayNs: specification.group?.ShutdownDelay ?? 0,
      runners: tasks.all,
      hurry: this.#hurry.signal,
    });
    if (this.#isClosed) return;
    await endInRounds({ tasks: ended, runners: tasks.runners, reason });
    if (record.expired) tasks.cancelCleanUp();
    this.evaluate();
  }
}

import type { SpanContext, Tracer } from '../../base/tracer.ts';
import type { AllocationReport } from '../../model/allocation/allocation.ts';
import { limits } from '../../model/limits.ts';
import { type AllocationTrace, keepNewest, traceTask } from '../../model/tracing/task-traces.ts';
import { agentLimits } from '../limits.ts';

export interface TaskTracesOptions {
  readonly tracer: Tracer;
  /** Asks the servers for the traces of allocations. */
  readonly ask: (ids: readonly string[]) => Promise<readonly AllocationTrace[]>;
  /** The newest report of an allocation; `undefined`: it is not here. */
  readonly reportOf: (id: string) => AllocationReport | undefined;
}

interface Starting {
  readonly parent: SpanContext;
  /** The tasks that have their span. */
  readonly told: Set<string>;
}

/**
 * Makes the spans of the tasks that start on this node, in the traces of the requests that have led to them.
 *
 * Invariants
 *  T1. Every start has one span: the leader makes those of the allocations for which it was not asked in time.
 *  T2. No task waits for it. A question that fails costs nothing but spans.
 *  T3. Its memory is bounded.
 */
export class TaskTraces {
  readonly #options: TaskTracesOptions;
  readonly #starting = new Map<string, Starting>();

  constructor(options: TaskTracesOptions) {
    this.#options = options;
  }

  /** Asks for the traces of allocations that begin. Never rejects. */
  async begin(ids: readonly string[]): Promise<void> {
    const { ask, reportOf } = this.#options;
    const { statusBatchSizeMax: most } = limits.node;
    for (let from = 0; from < ids.length; from += most) {
      // T2. A server of an older version does not know the question.
      const traces = await ask(ids.slice(from, from + most)).catch(() => []);
      for (const { AllocID, TraceID: traceId, SpanID: spanId } of traces) {
        const starting = { parent: { traceId, spanId }, told: new Set<string>() };
        keepNewest(this.#starting, AllocID, starting, agentLimits.tracedAllocationsMax);
        const report = reportOf(AllocID);
        if (report !== undefined) this.note(report);
      }
    }
  }

  note({ ID, TaskStates }: AllocationReport): void {
    const starting = this.#starting.get(ID);
    if (starting === undefined) return;
    const { parent, told } = starting;
    let isOver = true;
    for (const [task, state] of Object.entries(TaskStates)) {
      if (told.has(task)) continue;
      if (traceTask(this.#options.tracer, parent, task, state)) told.add(task);
      else if (state.State !== 'dead') isOver = false;
    }
    if (isOver) this.#starting.delete(ID);
  }
}

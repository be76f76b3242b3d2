import type { Clock } from '../../base/ports.ts';
import type { Span, SpanBegin, SpanContext, Tracer } from '../../base/tracer.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { type Evaluation, isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import {
  type AllocationTrace,
  keepNewest as keep,
  traceTask,
} from '../../model/tracing/task-traces.ts';
import { allocations, evaluations } from '../../state/tables.ts';
import type { Change, State } from '../../state/types.ts';
import { tracingLimits } from './limits.ts';

export interface TracingOptions {
  readonly state: Pick<State, 'onCommit' | 'onRan'>;
  readonly clock: Clock;
  readonly tracer: Tracer;
}

/** An evaluation that is not over. */
interface Open {
  readonly createdMs: number;
  /** Absent until its request or its cause is known. */
  span?: Span | undefined;
  /** The evaluation or the deployment that has led to it, if it belongs to a trace. */
  readonly cause: SpanContext | undefined;
  /** When its plan was applied to the speculative state. */
  plannedMs?: number;
}

/** An allocation that has not started. */
interface Starting {
  readonly span: Span;
  readonly nodeId: string;
  /** Whether its node makes the spans of its tasks. */
  isTracedThere: boolean;
}

/**
 * Makes the spans of a request and of its consequences: evaluation, plan, commit, and the start of allocations and
 * their tasks.
 *
 * Invariants
 *  S1. It follows the transactions of the state from outside, and nothing in the state or in its loops knows of it.
 *  S2. Its memory is bounded. After a change of the leader, the spans of open evaluations are missing.
 *  S3. Names, ids and times are in spans, and no text of a job or a request.
 */
export class Tracing {
  readonly #clock: Clock;
  readonly #tracer: Tracer;
  readonly #evaluations = new Map<string, Open>();
  /** The newest evaluations and deployments that belong to traces: the servers evaluate again because of them. */
  readonly #causes = new Map<string, SpanContext>();
  readonly #starting = new Map<string, Starting>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor({ state, clock, tracer }: TracingOptions) {
    this.#clock = clock;
    this.#tracer = tracer;
    this.#unsubscribe = [
      state.onRan((changes) => this.#notePlanned(changes)),
      state.onCommit((changes) => this.#followCommit(changes)),
    ];
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  /**
   * Makes the span of a request that was answered just now. The evaluations that it has made belong to the same trace.
   * Returns the id of the trace.
   */
  request(
    { durationMs, ...begin }: Omit<SpanBegin, 'startMs' | 'kind'> & { readonly durationMs: number },
    outcome: { readonly isError: boolean; readonly evaluations?: readonly string[] | undefined },
  ): string {
    const endMs = this.#clock.nowMs();
    const span = this.#tracer.begin({ ...begin, kind: 'server', startMs: endMs - durationMs });
    span.end(endMs, outcome);
    const { traceId } = span.context;
    for (const id of outcome.evaluations ?? []) {
      const open = this.#evaluations.get(id);
      if (open !== undefined) this.#beginEvaluation(id, open, span.context);
    }
    return traceId;
  }

  /**
   * The traces of those of the allocations that start on this node. From now on the node makes the spans of their
   * tasks.
   */
  giveTraces(nodeId: string, ids: readonly string[]): readonly AllocationTrace[] {
    return ids.flatMap((AllocID) => {
      const starting = this.#starting.get(AllocID);
      if (starting === undefined || starting.nodeId !== nodeId) return [];
      starting.isTracedThere = true;
      const { traceId: TraceID, spanId: SpanID } = starting.span.context;
      return [{ AllocID, TraceID, SpanID }];
    });
  }

  #beginEvaluation(id: string, open: Open, parent: SpanContext): Span {
    const about = { 'roster.evaluation.id': id };
    const span = this.#begin('evaluation', parent, open.createdMs, about);
    open.span = span;
    keep(this.#causes, id, span.context, tracingLimits.evaluationsMax);
    return span;
  }

  /** The span of an evaluation. It begins now if no request has made the evaluation, but a cause in a trace. */
  #spanOf(id: string): Span | undefined {
    const open = this.#evaluations.get(id);
    if (open?.span !== undefined || open?.cause === undefined) return open?.span;
    return this.#beginEvaluation(id, open, open.cause);
  }

  #begin(
    name: string,
    parent: SpanContext,
    startMs: number,
    attributes: SpanBegin['attributes'],
  ): Span {
    return this.#tracer.begin({ name, kind: 'internal', parent, startMs, attributes });
  }

  /** The scheduler has decided: its plan has run on the head. */
  #notePlanned(changes: readonly Change[]): void {
    for (const { ID } of changedIn(changes, evaluations.name, isTerminalEvaluation)) {
      const open = this.#evaluations.get(ID);
      if (open !== undefined) open.plannedMs = this.#clock.nowMs();
    }
  }

  #followCommit(changes: readonly Change[]): void {
    for (const { table, before, after } of changes) {
      if (table === allocations.name && after !== undefined) {
        if (before === undefined) this.#noteCreated(after as Allocation);
        else this.#noteStarted(after as Allocation);
      }
    }
    // After the allocations of the same plan, which look for their evaluation.
    for (const { table, before, after } of changes) {
      if (table !== evaluations.name || after === undefined) continue;
      const evaluation = after as Evaluation;
      if (isTerminalEvaluation(evaluation)) this.#endEvaluation(evaluation);
      else if (before === undefined) {
        const { ID, PreviousEval, DeploymentID } = evaluation;
        const cause = this.#causes.get(PreviousEval) ?? this.#causes.get(DeploymentID);
        const open = { createdMs: this.#clock.nowMs(), cause };
        keep(this.#evaluations, ID, open, tracingLimits.evaluationsMax);
      }
    }
  }

  #endEvaluation({ ID, JobID, Namespace, TriggeredBy, Status }: Evaluation): void {
    const span = this.#spanOf(ID);
    const open = this.#evaluations.get(ID);
    this.#evaluations.delete(ID);
    if (open === undefined || span === undefined) return;
    const endMs = this.#clock.nowMs();
    const plannedMs = open.plannedMs ?? endMs;
    const about = {
      'roster.job.id': JobID,
      'roster.namespace': Namespace,
      'roster.evaluation.triggered_by': TriggeredBy,
      'roster.evaluation.status': Status,
    };
    this.#begin('plan', span.context, open.createdMs, about).end(plannedMs);
    this.#begin('commit', span.context, plannedMs, {}).end(endMs);
    span.end(endMs, { isError: Status === 'failed' });
  }

  #noteCreated({ ID, EvalID, DeploymentID, Name, NodeID, NodeName }: Allocation): void {
    const span = this.#spanOf(EvalID);
    if (span === undefined) return;
    if (DeploymentID !== '' && !this.#causes.has(DeploymentID))
      keep(this.#causes, DeploymentID, span.context, tracingLimits.evaluationsMax);
    const start = this.#begin('start allocation', span.context, this.#clock.nowMs(), {
      'roster.allocation.id': ID,
      'roster.allocation.name': Name,
      'roster.node.id': NodeID,
      'roster.node.name': NodeName,
    });
    const starting = { span: start, nodeId: NodeID, isTracedThere: false };
    keep(this.#starting, ID, starting, tracingLimits.allocationsMax);
  }

  /** A node reports an allocation: how its tasks have started, by the clock of the node. */
  #noteStarted({ ID, ClientStatus, TaskStates }: Allocation): void {
    const starting = this.#starting.get(ID);
    if (starting === undefined || ClientStatus === 'pending') return;
    this.#starting.delete(ID);
    const { span, isTracedThere } = starting;
    for (const [task, state] of isTracedThere ? [] : Object.entries(TaskStates ?? {})) {
      traceTask(this.#tracer, span.context, task, state);
    }
    span.end(this.#clock.nowMs(), { isError: ClientStatus === 'failed' });
  }
}

function* changedIn(
  changes: readonly Change[],
  name: string,
  matches: (evaluation: Evaluation) => boolean,
): Generator<Evaluation> {
  for (const { table, after } of changes) {
    if (table === name && after !== undefined && matches(after as Evaluation)) {
      yield after as Evaluation;
    }
  }
}

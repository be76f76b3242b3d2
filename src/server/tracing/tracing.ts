import { instantToMs } from '../../base/instant.ts';
import type { Clock } from '../../base/ports.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { type TaskEvent, taskEventTypes } from '../../model/allocation/task-state.ts';
import { type Evaluation, isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import { allocations, evaluations } from '../../state/tables.ts';
import type { Change, State } from '../../state/types.ts';
import { tracingLimits } from './limits.ts';
import type { Span, SpanBegin, SpanContext, Tracer } from './tracer.ts';

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
  /** The spans of allocations that have not started yet. */
  readonly #starting = new Map<string, Span>();
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
    const started = this.#begin('start allocation', span.context, this.#clock.nowMs(), {
      'roster.allocation.id': ID,
      'roster.allocation.name': Name,
      'roster.node.id': NodeID,
      'roster.node.name': NodeName,
    });
    keep(this.#starting, ID, started, tracingLimits.allocationsMax);
  }

  /** A node reports an allocation: how its tasks have started, by the clock of the node. */
  #noteStarted({ ID, ClientStatus, TaskStates }: Allocation): void {
    const span = this.#starting.get(ID);
    if (span === undefined || ClientStatus === 'pending') return;
    this.#starting.delete(ID);
    for (const [task, { Events, Failed }] of Object.entries(TaskStates ?? {})) {
      const receivedMs = timeOf(Events, taskEventTypes.received);
      const startedMs = timeOf(Events, taskEventTypes.started);
      if (receivedMs === undefined || startedMs === undefined) continue;
      this.#begin('start task', span.context, receivedMs, { 'roster.task.name': task }).end(
        startedMs,
        { isError: Failed },
      );
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

/** Adds to a map in place of the oldest, if it is full. */
function keep<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}

/** Milliseconds of the first event of a type. */
function timeOf(events: readonly TaskEvent[] | null, type: string): number | undefined {
  const found = events?.find(({ Type }) => Type === type);
  return found && instantToMs(found.Time);
}

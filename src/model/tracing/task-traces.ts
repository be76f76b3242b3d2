import { instantToMs } from '../../base/instant.ts';
import type { Tracer } from '../../base/tracer.ts';
import { type TaskEvent, type TaskState, taskEventTypes } from '../allocation/task-state.ts';
import { FullList, type Model, Text, Type } from '../schema.ts';

/** A node's question for the traces to which the starts of its allocations belong. */
export const TracesRequestSchema = Type.Object({ Allocations: FullList(Text()) });

/** The span of the start of an allocation, below which its node puts the spans of the tasks. */
export const AllocationTraceSchema = Type.Object({
  AllocID: Text(),
  TraceID: Text(),
  SpanID: Text(),
});
export type AllocationTrace = Model<typeof AllocationTraceSchema>;

/** Makes the span of a task that has started, by the clock of its node. Returns whether it has. */
export function traceTask(
  tracer: Tracer,
  parent: { readonly traceId: string; readonly spanId: string },
  task: string,
  { Events, Failed }: Pick<TaskState, 'Events' | 'Failed'>,
): boolean {
  const receivedMs = timeOf(Events, taskEventTypes.received);
  const startedMs = timeOf(Events, taskEventTypes.started);
  if (receivedMs === undefined || startedMs === undefined) return false;
  const attributes = { 'roster.task.name': task };
  const begin = { name: 'start task', kind: 'internal', parent, attributes } as const;
  tracer.begin({ ...begin, startMs: receivedMs }).end(startedMs, { isError: Failed });
  return true;
}

/** Milliseconds of the first event of a type. */
function timeOf(events: readonly TaskEvent[] | null, type: string): number | undefined {
  const found = events?.find(({ Type }) => Type === type);
  return found && instantToMs(found.Time);
}

/** Adds to a map in place of the oldest, if it is full. */
export function keepNewest<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}

import { expect, test } from 'vitest';
import { instantFromMs } from '../../base/instant.ts';
import type { SpanBegin, Tracer } from '../../base/tracer.ts';
import type { AllocationReport } from '../../model/allocation/allocation.ts';
import { TaskTraces, type TaskTracesOptions } from './task-traces.ts';

const parent = { traceId: 't1', spanId: 's1' };

/** A task of a report. Times in milliseconds; absent: it has not come so far. */
const task = (receivedMs: number, startedMs?: number, State = 'running') => ({
  State,
  Failed: State === 'dead',
  Events: [
    { Type: 'Received', Time: instantFromMs(receivedMs) },
    ...(startedMs === undefined ? [] : [{ Type: 'Started', Time: instantFromMs(startedMs) }]),
  ],
});

const reportOf = (TaskStates: object) => ({ ID: 'a1', TaskStates }) as unknown as AllocationReport;

function tracing(options: Partial<TaskTracesOptions>) {
  const spans: string[] = [];
  const tracer: Tracer = {
    begin: ({ name, parent, startMs, attributes }: SpanBegin) => ({
      context: parent!,
      end: (endMs, outcome) => {
        const of = `${parent?.traceId}/${parent?.spanId}`;
        const text = `${name} ${attributes['roster.task.name']} ${startMs}-${endMs} in ${of}`;
        spans.push(outcome?.isError ? `${text} failed` : text);
      },
    }),
  };
  const given = { AllocID: 'a1', TraceID: parent.traceId, SpanID: parent.spanId };
  const traces = new TaskTraces({
    tracer,
    ask: async (ids) => (ids.includes('a1') ? [given] : []),
    reportOf: () => undefined,
    ...options,
  });
  return { traces, spans };
}

test('each task has one span, also if it starts after others', async () => {
  const { traces, spans } = tracing({});
  await traces.begin(['a1', 'a2']);
  traces.note(reportOf({ first: task(1, 5), second: task(2) }));
  traces.note(reportOf({ first: task(1, 5, 'dead'), second: task(2) }));
  traces.note(reportOf({ first: task(1, 5, 'dead'), second: task(2, 9) }));
  traces.note(reportOf({ first: task(1, 5, 'dead'), second: task(2, 9) }));
  expect(spans).toEqual(['start task first 1-5 in t1/s1', 'start task second 2-9 in t1/s1']);
});

test('a task that started before the servers have answered has its span', async () => {
  const { traces, spans } = tracing({ reportOf: () => reportOf({ only: task(1, 5, 'dead') }) });
  traces.note(reportOf({ only: task(1, 5) }));
  expect(spans).toEqual([]);
  await traces.begin(['a1']);
  expect(spans).toEqual(['start task only 1-5 in t1/s1 failed']);
});

test('allocations of no trace, and servers that do not answer, cost nothing but spans', async () => {
  const { traces, spans } = tracing({ ask: () => Promise.reject(new Error('answered 404')) });
  await traces.begin(['a1']);
  traces.note(reportOf({ only: task(1, 5) }));
  expect(spans).toEqual([]);
});

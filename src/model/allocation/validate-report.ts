/** Rules for a node's report of its allocations. Source: docs/behaviour/nodes.md#reports. */
import { parseTime } from '../acl-token/write.ts';
import { checkValues } from '../check-values.ts';
import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { type AllocationReport, AllocationReportSchema } from './allocation.ts';
import type { TaskState } from './task-state.ts';

/** All faults of a batch of reports at once. The servers check whose allocations they are. */
export function reportFaults(reports: readonly AllocationReport[]): Fault[] {
  const at = below(null, 'Allocations');
  const { statusBatchSizeMax } = limits.node;
  if (reports.length > statusBatchSizeMax) {
    const rule = `has ${reports.length} reports; at most ${statusBatchSizeMax} are taken at once`;
    return [faultAt(at, rule)];
  }
  const faults: Fault[] = [];
  for (const [index, report] of reports.entries()) {
    if (faults.length >= limits.fault.listedMax) break;
    const path = below(at, index);
    faults.push(...checkValues(AllocationReportSchema, report, path), ...faultsOf(report, path));
  }
  return faults;
}

function* faultsOf(report: AllocationReport, path: Path): Iterable<Fault> {
  if (report.ID.includes('\0')) {
    yield faultAt(below(path, 'ID'), 'must not hold a NUL character');
  }
  const { attributeLengthMax } = limits.node;
  if (report.ClientDescription.length > attributeLengthMax) {
    const rule = `must be at most ${attributeLengthMax} characters long`;
    yield faultAt(below(path, 'ClientDescription'), rule);
  }
  const states = Object.entries(report.TaskStates);
  const tasks = below(path, 'TaskStates');
  const { tasksPerGroupMax } = limits.job;
  if (states.length > tasksPerGroupMax) {
    const rule = `has ${states.length} tasks; a group has at most ${tasksPerGroupMax}`;
    yield faultAt(tasks, rule);
  }
  for (const [task, state] of states) {
    yield* stateFaults(state, below(tasks, task.slice(0, limits.fault.quotedLengthMax)));
  }
}

function* stateFaults(state: TaskState, path: Path): Iterable<Fault> {
  const { eventsKept } = limits.task;
  const count = state.Events?.length ?? 0;
  if (count > eventsKept) {
    const rule = `has ${count} events; at most ${eventsKept} are kept`;
    yield faultAt(below(path, 'Events'), rule);
  }
  for (const field of ['LastRestart', 'StartedAt', 'FinishedAt'] as const) {
    const text = state[field];
    if (text === null || parseTime(text) !== undefined) continue;
    yield faultAt(below(path, field), `must be a time in RFC 3339, got ${quote(text)}`);
  }
}

import { drained, type Steps } from '../../base/steps.ts';
import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Path, quote, type Report } from '../path.ts';
import type { Task } from '../task/task.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import type { Job, JobInput } from './job.ts';
import { warnOfReferences } from './reference-warnings.ts';
import { warnOfFieldsWithoutEffect } from './without-effect.ts';

/** A field that is valid but likely a mistake: its path, and a sentence that begins with it. */
export type Warning = Fault;

/**
 * The warnings of a canonical job. `given` is the job as it was written, if it is at hand: it still has the
 * fields that are not stored.
 */
export const jobWarnings = (job: Job, given: JobInput = job): Warning[] =>
  drained(jobWarningsSteps(job, given));

/** Collects warnings group by group. */
export function* jobWarningsSteps(job: Job, given: JobInput = job): Steps<Warning[]> {
  const warnings: Warning[] = [];
  const warn: Report = (path, message) => {
    if (warnings.length < limits.fault.warningsFoundMax) warnings.push(faultAt(path, message));
  };
  yield* warnOfFieldsWithoutEffect(given, warn);
  for (const [index, group] of job.TaskGroups.entries()) {
    warnOfGroup(group, below(null, 'TaskGroups', index), warn);
    yield;
  }
  warnOfPromotion(job, warn);
  yield* warnOfReferences(job, warn);
  return warnings;
}

function warnOfPromotion({ TaskGroups }: Job, warn: Report): void {
  const canarying = TaskGroups.filter((group) => (group.Update?.Canary ?? 0) > 0);
  if (!canarying.some((group) => group.Update?.AutoPromote)) return;
  for (const group of canarying) {
    if (group.Update?.AutoPromote) continue;
    const at = below(null, 'TaskGroups', TaskGroups.indexOf(group), 'Update', 'AutoPromote');
    warn(at, 'must be true for every group with canaries to take effect');
  }
}

function warnOfGroup(group: TaskGroup, path: Path, warn: Report): void {
  const at = (...keys: (string | number)[]): Path => below(path, ...keys);
  const parallel = group.Update?.MaxParallel ?? 0;
  if (group.Count > 1 && parallel > group.Count) {
    warn(
      at('Update', 'MaxParallel'),
      `is ${parallel}, which is more than the count ${group.Count}`,
    );
  }
  warnOfNetworks(group, at('Networks'), warn);
  for (const [name, { Type }] of Object.entries(group.Volumes ?? {})) {
    if (Type !== 'csi') continue;
    warn(at('Volumes', name, 'Type'), 'is csi, and no node has storage plugins: the group waits');
  }
  group.Tasks.forEach((task, index) => {
    warnOfTask(task, at('Tasks', index), warn);
  });
}

function warnOfNetworks({ Networks }: TaskGroup, path: Path, warn: Report): void {
  Networks?.forEach(({ Mode }, index) => {
    if (index > 0) warn(below(path, index), 'has no effect: only the first network is used');
    else if (Mode === 'none') {
      warn(below(path, index, 'Mode'), 'has no effect: tasks see the network of the node');
    } else if (Mode !== '' && Mode !== 'host') {
      const sentence = `is unknown to every node, so the group waits: ${quote(Mode)}`;
      warn(below(path, index, 'Mode'), sentence);
    }
  });
}

function warnOfTask(task: Task, path: Path, warn: Report): void {
  const at = (...keys: (string | number)[]): Path => below(path, ...keys);
  if (task.Resources.Networks !== null) {
    warn(at('Resources', 'Networks'), 'are deprecated: use those of the group');
  }
  task.Identities?.forEach(({ Name }, index) => {
    if (task.Secrets === null && Name.startsWith('secrets_')) {
      warn(at('Identities', index), 'is for the secrets engine, and the task has no Secrets block');
    }
  });
}

/** Warnings of fields in a body that no schema knows. Source: docs/contract/http.md#bodies. */
export const unknownFieldWarnings = (paths: readonly string[]): readonly string[] =>
  paths.map((path) => `unknown field ${path} is ignored`);

export const sentencesOf = (warnings: readonly Warning[]): string[] =>
  warnings.map(({ message }) => message);

/** The text of `Warnings` in an answer; empty when there are none. */
export function warningsText(warnings: readonly string[]): string {
  if (warnings.length === 0) return '';
  const { warningsMax } = limits.fault;
  const listed = warnings.slice(0, warningsMax).map((line) => `* ${line}`);
  if (warnings.length > warningsMax) listed.push(`* and ${warnings.length - warningsMax} more`);
  return `${warnings.length} warning(s):\n\n${listed.join('\n')}`;
}

import { limits } from '../limits.ts';
import { networkModes } from '../network/network.ts';
import { quote } from '../path.ts';
import type { Service } from '../service/service.ts';
import type { Task } from '../task/task.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import type { Job } from './job.ts';

/** What is possible but likely not meant, as sentences. Source: facts/scheduler.md §2.12. */
export function jobWarnings(job: Job): string[] {
  const warnings = job.TaskGroups.flatMap(groupWarnings);
  const canarying = job.TaskGroups.filter((group) => (group.Update?.Canary ?? 0) > 0);
  const promoting = canarying.filter((group) => group.Update?.AutoPromote);
  if (promoting.length > 0 && promoting.length < canarying.length) {
    warnings.push('AutoPromote must be true for every group with canaries to take effect.');
  }
  if (job.Periodic !== null && job.Periodic.Spec !== '') {
    warnings.push('Periodic.Spec is deprecated: use Periodic.Specs.');
  }
  if (job.Multiregion !== null) {
    warnings.push('Multiregion has no effect: a cluster is one region.');
  }
  return warnings;
}

function groupWarnings(group: TaskGroup): string[] {
  const warnings: string[] = [];
  const warn = (sentence: string) => warnings.push(`Group "${group.Name}": ${sentence}`);
  const parallel = group.Update?.MaxParallel ?? 0;
  if (group.Count > 1 && parallel > group.Count) {
    warn(`Update.MaxParallel (${parallel}) is more than Count (${group.Count}).`);
  }
  const deprecated = [
    'StopAfterClientDisconnect',
    'MaxClientDisconnect',
    'PreventRescheduleOnLost',
  ] as const;
  for (const field of deprecated) {
    if (group[field] !== null) warn(`${field} is deprecated and has no effect: use Disconnect.`);
  }
  if (group.Networks?.some((network) => network.MBits > 0)) warn('MBits is deprecated.');
  if ((group.Networks?.length ?? 0) > 1) warn('only the first of its networks is used.');
  for (const { Mode } of group.Networks?.slice(0, 1) ?? []) {
    if (!isNetworkMode(Mode)) warn(`no node has a network of the mode ${quote(Mode)}.`);
  }
  if (group.Services !== null && group.ShutdownDelay === null) {
    warn('it has services and no ShutdownDelay, so traffic may reach it while it stops.');
    if (group.Services.some(hasSidecarWithoutDelay)) {
      warn('its sidecar has no ShutdownDelay, so it may stop while connections are open.');
    }
  }
  return [...warnings, ...group.Tasks.flatMap((task) => taskWarnings(group, task))];
}

function taskWarnings(group: TaskGroup, task: Task): string[] {
  const warnings: string[] = [];
  const warn = (sentence: string) =>
    warnings.push(`Group "${group.Name}", task "${task.Name}": ${sentence}`);
  if (task.Resources.IOPS > 0) warn('IOPS is deprecated and has no effect.');
  if (task.Resources.Networks !== null) warn('networks of tasks are deprecated: use the group.');
  if (task.Services !== null && task.ShutdownDelay === 0 && group.ShutdownDelay === null) {
    warn('it has services and no ShutdownDelay, so traffic may reach it while it stops.');
  }
  // There is no setting that would let a task take more than is set aside for it.
  if (task.Resources.MemoryMaxMB !== 0) {
    warn('MemoryMaxMB has no effect: memory oversubscription is not enabled.');
  }
  if (task.Secrets === null && task.Identities?.some(({ Name }) => Name.startsWith('secrets_'))) {
    warn('it has an identity for the secrets engine and no Secrets block.');
  }
  if (task.Templates?.some((template) => template.SecretsGrace > 0)) {
    warn('SecretsGrace of templates is deprecated and has no effect.');
  }
  if (task.Schedule !== null) warn('Schedule has no effect.');
  return warnings;
}

const isNetworkMode = (mode: string): boolean =>
  mode === '' || (networkModes as readonly string[]).includes(mode) || /^cni\/./.test(mode);

/** `Connect` is taken as it is, so it may hold anything. */
function hasSidecarWithoutDelay({ Connect }: Service): boolean {
  if (!Connect?.SidecarService) return false;
  const task = Connect.SidecarTask as { readonly ShutdownDelay?: unknown } | null | undefined;
  return !task?.ShutdownDelay;
}

/** Of fields in a body that no schema knows. Source: DESIGN §5 "Unknown body fields". */
export const unknownFieldWarnings = (paths: readonly string[]): readonly string[] =>
  paths.map((path) => `unknown field ${path} is ignored`);

/** The text of `Warnings` in an answer; empty when there are none. */
export function warningsText(warnings: readonly string[]): string {
  if (warnings.length === 0) return '';
  const { warningsMax } = limits.fault;
  const listed = warnings.slice(0, warningsMax).map((line) => `* ${line}`);
  if (warnings.length > warningsMax) listed.push(`* and ${warnings.length - warningsMax} more`);
  return `${warnings.length} warning(s):\n\n${listed.join('\n')}`;
}

import {
  validateAffinities,
  validateConstraints,
  validateSpreads,
} from '../constraint/validate.ts';
import type { Job } from '../job/job.ts';
import { validateMeta } from '../job/meta.ts';
import { limits } from '../limits.ts';
import type { PlacedNetwork } from '../network/validate.ts';
import { validateNetworks } from '../network/validate.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import { validateService } from '../service/validate.ts';
import { validateTask } from '../task/validate.ts';
import { checkPlaceName, checkUnique } from '../text-rules.ts';
import { validateVolume } from '../volume/validate.ts';
import { isRolling } from './policy-defaults.ts';
import type { TaskGroup } from './task-group.ts';
import {
  validateDisconnect,
  validateMigrate,
  validateReschedule,
  validateRestart,
  validateUpdate,
} from './validate-policies.ts';

/** Source: docs/behaviour/job-specification.md#task-groups, in its order. */
export function validateGroup(group: TaskGroup, job: Job, path: Path, report: Report): void {
  const at = (...keys: (string | number)[]): Path => below(path, ...keys);
  checkPlaceName(group.Name, at('Name'), report);
  if (job.Type === 'system' && group.Count > 1) {
    report(at('Count'), 'must be 0 or 1 in a system job');
  }
  validateConstraints(group.Constraints, at('Constraints'), report, { allowDistinct: true });
  if (job.Type === 'system' && group.Affinities !== null) {
    report(at('Affinities'), 'are not possible in a system job');
  } else validateAffinities(group.Affinities, at('Affinities'), report);
  if (job.Type === 'system' && group.Spreads !== null) {
    report(at('Spreads'), 'are not possible in a system job');
  } else validateSpreads(group.Spreads, at('Spreads'), report);
  validatePolicies(group, job, path, report);
  const networks = networksOf(group, path);
  validateNetworks(networks, report);
  const portLabels = labelsOf(networks);
  const taskNames = new Set(group.Tasks.map((task) => task.Name));
  validateServices(group, path, report, { portLabels, taskNames });
  validateTasks(group, path, report, { jobType: job.Type, portLabels, taskNames });
  const context = { jobType: job.Type, count: group.Count, canaries: group.Update?.Canary ?? 0 };
  for (const [name, volume] of Object.entries(group.Volumes ?? {})) {
    checkPlaceName(name, at('Volumes', name), report);
    validateVolume(volume, at('Volumes', name), report, context);
  }
  validateScaling(group, job, path, report);
  validateMeta(group.Meta, at('Meta'), report);
  if (group.MaxRunDuration !== null && job.Type !== 'batch' && job.Type !== 'sysbatch') {
    report(at('MaxRunDuration'), `is not possible in a ${job.Type} job`);
  }
}

function validatePolicies(group: TaskGroup, job: Job, path: Path, report: Report): void {
  const { Type } = job;
  validateRestart(group.RestartPolicy, below(path, 'RestartPolicy'), report);
  if (group.ReschedulePolicy !== null) {
    const at = below(path, 'ReschedulePolicy');
    if (Type === 'service' || Type === 'batch') {
      validateReschedule(group.ReschedulePolicy, at, report);
    } else report(at, `is not possible in a ${Type} job`);
  }
  if (group.Disconnect !== null) {
    validateDisconnect(group.Disconnect, Type, below(path, 'Disconnect'), report);
  }
  if (group.Update !== null) {
    const at = below(path, 'Update');
    if (isRolling(Type)) validateUpdate(group.Update, Type, at, report);
    else report(at, `is not possible in a ${Type} job`);
  }
  if (group.Migrate !== null) {
    const at = below(path, 'Migrate');
    if (Type === 'service') validateMigrate(group.Migrate, at, report);
    else report(at, `is not possible in a ${Type} job`);
  }
}

function networksOf(group: TaskGroup, path: Path): PlacedNetwork[] {
  const own = (group.Networks ?? []).map((network, index) => ({
    network,
    path: below(path, 'Networks', index),
    isUsed: index === 0,
  }));
  const ofTasks = group.Tasks.flatMap((task, taskIndex) =>
    (task.Resources.Networks ?? []).map((network, index) => ({
      network,
      path: below(path, 'Tasks', taskIndex, 'Resources', 'Networks', index),
      isUsed: true,
    })),
  );
  return [...own, ...ofTasks];
}

/** The port labels that services may name: only the first network of a group is used. */
function labelsOf(networks: readonly PlacedNetwork[]): ReadonlySet<string> {
  const ports = networks
    .filter(({ isUsed }) => isUsed)
    .flatMap(({ network }) => [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])]);
  return new Set(ports.map((port) => port.Label));
}

interface GroupNames {
  readonly portLabels: ReadonlySet<string>;
  readonly taskNames: ReadonlySet<string>;
}

/** Validates the group's own services, and the fields that all services of the group must share. */
function validateServices(
  group: TaskGroup,
  path: Path,
  report: Report,
  surroundings: GroupNames,
): void {
  const placed = (group.Services ?? []).map((service, index) => ({
    service,
    owner: 'group',
    at: below(path, 'Services', index),
  }));
  for (const { service, at } of placed) {
    validateService(service, at, report, { onTask: false, ...surroundings });
  }
  group.Tasks.forEach((task, taskIndex) => {
    task.Services?.forEach((service, index) => {
      const at = below(path, 'Tasks', taskIndex, 'Services', index);
      placed.push({ service, owner: `task ${task.Name}`, at });
    });
  });
  const seen = new Set<string>();
  const provider = placed[0]?.service.Provider;
  for (const { service, owner, at } of placed) {
    const key = JSON.stringify([owner, service.Name, service.PortLabel]);
    if (seen.has(key)) report(below(at, 'Name'), 'is taken for the same port');
    seen.add(key);
    if (service.Provider !== provider) {
      report(below(at, 'Provider'), `must be the same in the whole group, and one is ${provider}`);
    }
  }
}

function validateTasks(
  group: TaskGroup,
  path: Path,
  report: Report,
  surroundings: GroupNames & { readonly jobType: Job['Type'] },
): void {
  const at = below(path, 'Tasks');
  const { Tasks } = group;
  if (Tasks.length === 0) report(at, 'must hold at least one task');
  if (Tasks.length > limits.job.tasksPerGroupMax) {
    report(at, `must hold at most ${limits.job.tasksPerGroupMax} tasks`);
  }
  checkUnique(
    Tasks.map((task) => task.Name),
    (index) => below(at, index, 'Name'),
    report,
  );
  if (Tasks.filter((task) => task.Leader).length > 1) report(at, 'may have one Leader at most');
  if (Tasks.length > 0 && Tasks.every((task) => task.Lifecycle !== null)) {
    report(at, 'must hold at least one task without a lifecycle hook');
  }
  Tasks.forEach((task, index) => {
    validateTask(task, below(at, index), report, {
      volumes: group.Volumes,
      ephemeralDiskMb: group.EphemeralDisk.SizeMB,
      progressDeadline: group.Update?.ProgressDeadline ?? 0,
      ...surroundings,
    });
  });
}

/** Source: docs/behaviour/job-specification.md#scaling-policies. */
function validateScaling(group: TaskGroup, job: Job, path: Path, report: Report): void {
  const { Scaling, Count } = group;
  if (Scaling === null) return;
  const at = below(path, 'Scaling');
  if (job.Type === 'system') {
    report(at, 'is not possible in a system job');
    return;
  }
  const { Min, Max } = Scaling;
  if (Scaling.Type !== 'horizontal') {
    report(below(at, 'Type'), `must be horizontal for a group, got ${quote(Scaling.Type)}`);
  }
  if (Max === null) report(below(at, 'Max'), 'is required');
  else if (Max < 0) report(below(at, 'Max'), 'must be at least 0');
  if (Min !== null && Min < 0) report(below(at, 'Min'), 'must be at least 0');
  if (Min !== null && Max !== null && Min > Max)
    report(below(at, 'Min'), 'must not be more than Max');
  const outside = (Min !== null && Count < Min) || (Max !== null && Count > Max);
  if (outside) report(below(path, 'Count'), `must be within the scaling range ${Min} to ${Max}`);
}

import { validateAffinities, validateConstraints } from '../constraint/validate.ts';
import { validateMeta } from '../job/meta.ts';
import { limits } from '../limits.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import { validateService } from '../service/validate.ts';
import { validateRestart } from '../task-group/validate-policies.ts';
import { checkPlaceName, checkUnique, escapesDirectory } from '../text-rules.ts';
import type { VolumeRequest } from '../volume/volume.ts';
import { validateEnvironment } from './environment-rules.ts';
import type { SecretFetch } from './secrets.ts';
import type { Action, Task } from './task.ts';
import { validateArtifact, validateMounts, validateTemplates } from './validate-files.ts';
import { validateIdentities } from './validate-identities.ts';
import { validateResources } from './validate-resources.ts';

/** The facts about its job and group on which the validity of a task depends. */
export interface TaskContext {
  readonly jobType: string;
  readonly volumes: Readonly<Record<string, VolumeRequest>> | null;
  readonly ephemeralDiskMb: number;
  /** 0 if there is none. */
  readonly progressDeadline: number;
  readonly portLabels: ReadonlySet<string>;
  readonly taskNames: ReadonlySet<string>;
}

/** Source: docs/behaviour/job-specification.md#tasks, in its order. */
export function validateTask(task: Task, path: Path, report: Report, context: TaskContext): void {
  const at = (...keys: (string | number)[]): Path => below(path, ...keys);
  checkPlaceName(task.Name, at('Name'), report);
  if (task.Name === 'alloc') report(at('Name'), 'must not be "alloc": that directory is shared');
  // `checkPlaceName` tells of a slash at the end.
  if (/[/\\]./s.test(task.Name)) report(at('Name'), 'must not hold a slash or backslash');
  if (task.Driver === '') report(at('Driver'), 'is required');
  const { progressDeadline } = context;
  if (context.jobType === 'service' && progressDeadline > 0) {
    if (task.KillTimeout > progressDeadline) {
      report(at('KillTimeout'), 'must not be more than the ProgressDeadline of the update');
    }
  }
  if (task.Lifecycle !== null && task.Lifecycle.Hook === '') {
    report(at('Lifecycle', 'Hook'), 'is required: prestart, poststart or poststop');
  }
  validateEnvironment(task.Env, at('Env'), report);
  validateMeta(task.Meta, at('Meta'), report);
  validateResources(task.Resources, at('Resources'), report);
  validateLogs(task, path, report, context);
  validateRestart(task.RestartPolicy, at('RestartPolicy'), report);
  validateConstraints(task.Constraints, at('Constraints'), report, { allowDistinct: false });
  if (context.jobType === 'system' && task.Affinities !== null) {
    report(at('Affinities'), 'are not possible in a system job');
  } else validateAffinities(task.Affinities, at('Affinities'), report);
  task.Services?.forEach((service, index) => {
    if (service.Connect !== null) {
      report(at('Services', index, 'Connect'), 'is only for services of a group');
    }
    const { portLabels, taskNames } = context;
    const place = { onTask: true, portLabels, taskNames };
    validateService(service, at('Services', index), report, place);
  });
  task.Artifacts?.forEach((artifact, index) => {
    validateArtifact(artifact, at('Artifacts', index), report);
  });
  validateTemplates(task.Templates, at('Templates'), report);
  validateActions(task.Actions, at('Actions'), report);
  validateMounts(task.VolumeMounts, context.volumes, at('VolumeMounts'), report);
  if (task.DispatchPayload !== null) validatePayloadFile(task.DispatchPayload.File, path, report);
  validateSecretFetches(task.SecretFetches, at('SecretFetches'), report);
  if (task.Identity !== null && task.Identity.TTL > 0) {
    report(at('Identity', 'TTL'), 'is not possible for the default identity');
  }
  validateIdentities(task.Identities, at('Identities'), report);
  validateTaskScaling(task, at('ScalingPolicies'), report);
  if (task.CSIPluginConfig !== null) {
    if (task.CSIPluginConfig.ID === '') report(at('CSIPluginConfig', 'ID'), 'is required');
    if (task.CSIPluginConfig.Type === '') report(at('CSIPluginConfig', 'Type'), 'is required');
  }
}

function validateLogs(task: Task, path: Path, report: Report, context: TaskContext): void {
  const { Disabled, MaxFiles, MaxFileSizeMB } = task.LogConfig;
  const at = below(path, 'LogConfig');
  if (!Disabled && MaxFiles * MaxFileSizeMB >= context.ephemeralDiskMb) {
    const asked = MaxFiles * MaxFileSizeMB;
    report(at, `may take ${asked} MB, which is not less than the group's EphemeralDisk`);
  }
}

function validateActions(actions: readonly Action[] | null, path: Path, report: Report): void {
  const list = actions ?? [];
  list.forEach((action, index) => {
    const { Name, Command } = action;
    if (!/^[^\0\s]+$/.test(Name) || Name.length > limits.names.actionLengthMax) {
      report(below(path, index, 'Name'), 'must be 1 to 128 characters without spaces');
    }
    if (Command === '') report(below(path, index, 'Command'), 'is required');
  });
  checkUnique(
    list.map((action) => action.Name),
    (index) => below(path, index, 'Name'),
    report,
  );
}

function validatePayloadFile(file: string, path: Path, report: Report): void {
  const at = below(path, 'DispatchPayload', 'File');
  if (file === '') report(at, 'is required');
  else if (escapesDirectory(file)) report(at, "must stay inside the task's local directory");
}

function validateSecretFetches(
  fetches: readonly SecretFetch[] | null,
  path: Path,
  report: Report,
): void {
  const list = fetches ?? [];
  list.forEach((fetch, index) => {
    if (!/^\w{1,128}$/.test(fetch.Name)) {
      const at = below(path, index, 'Name');
      report(at, `must be 1 to 128 letters, digits or underscores, got ${quote(fetch.Name)}`);
    }
    if (fetch.Provider === '') report(below(path, index, 'Provider'), 'is required');
    if (fetch.Path === '') report(below(path, index, 'Path'), 'is required');
    if (fetch.Config !== null && fetch.Env !== null) {
      report(below(path, index, 'Env'), 'is not possible together with Config');
    }
  });
  checkUnique(
    list.map((fetch) => fetch.Name),
    (index) => below(path, index, 'Name'),
    report,
  );
}

/**
 * Source: docs/behaviour/job-specification.md#scaling-policies, for what an autoscaler may set of a
 * task.
 */
function validateTaskScaling({ ScalingPolicies }: Task, path: Path, report: Report): void {
  ScalingPolicies?.forEach(({ Min, Max }, index) => {
    const at = below(path, index);
    if (Max === null) report(below(at, 'Max'), 'is required');
    else if (Max < 0) report(below(at, 'Max'), 'must be at least 0');
    if (Min !== null && Min < 0) report(below(at, 'Min'), 'must be at least 0');
    if (Min !== null && Max !== null && Min > Max) {
      report(below(at, 'Min'), 'must not be more than Max');
    }
  });
}

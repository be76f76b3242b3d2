import type { Input } from '../schema.ts';
import { canonicalService } from '../service/canonicalize.ts';
import type { RestartPolicy } from '../task-group/policies.ts';
import { canonicalRestart } from '../task-group/policy-defaults.ts';
import { settingsAsText } from './driver-settings.ts';
import type { Artifact, Template } from './files.ts';
import type { Resources } from './resources.ts';
import type { Task } from './task.ts';

export interface TaskPlace {
  readonly job: string;
  readonly jobType: string;
  readonly group: string;
  readonly groupRestart: Input<RestartPolicy> | null | undefined;
}

/**
 * A task with the defaults that depend on its place or on its other fields.
 * Source: docs/behaviour/job-specification.md#tasks.
 */
export function canonicalTask(task: Input<Task>, place: TaskPlace): Input<Task> {
  const name = task.Name ?? '';
  const { job, group } = place;
  const hasLifecycle = Boolean(task.Lifecycle?.Hook || task.Lifecycle?.Sidecar);
  return {
    ...task,
    Config: settingsAsText(task.Driver ?? '', task.Config),
    Lifecycle: hasLifecycle ? task.Lifecycle : null,
    Resources: canonicalResources(task.Resources ?? {}),
    RestartPolicy: canonicalRestart(place.jobType, place.groupRestart, task.RestartPolicy),
    Services: (task.Services ?? []).map((service) =>
      canonicalService(service, { job, group, task: name }),
    ),
    Artifacts: (task.Artifacts ?? []).map(canonicalArtifact),
    Templates: (task.Templates ?? []).map(canonicalTemplate),
    Secrets: task.Secrets && {
      ...task.Secrets,
      ChangeSignal: (task.Secrets.ChangeSignal || 'SIGHUP').toUpperCase(),
    },
  };
}

/** Whole cores replace a share of the processor. */
const canonicalResources = (resources: Input<Resources>): Input<Resources> => ({
  ...resources,
  CPU: resources.CPU ?? ((resources.Cores ?? 0) > 0 ? 0 : 100),
});

function canonicalArtifact(artifact: Input<Artifact>): Input<Artifact> {
  const mode = artifact.GetterMode || 'any';
  const source = artifact.GetterSource ?? '';
  const fileName = source.split(/[?#]/, 1)[0]!.split('/').at(-1)!;
  const place = mode === 'file' ? `local/${fileName}` : 'local/';
  return { ...artifact, GetterMode: mode, RelativeDest: artifact.RelativeDest || place };
}

function canonicalTemplate(template: Input<Template>): Input<Template> {
  const mode = template.ChangeMode || 'restart';
  const signal = template.ChangeSignal || (mode === 'signal' ? 'SIGHUP' : '');
  return { ...template, ChangeMode: mode, ChangeSignal: signal.toUpperCase() };
}

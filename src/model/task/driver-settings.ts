/**
 * Settings of the drivers that are text, however they are written: job files give `-p 8080` as `["-p",
 * 8080]`. Numbers and booleans in them become text when a job is canonicalized, and when a stored job is
 * compared or run.
 */
import { textOf } from '../../language/hcl/convert.ts';
import type { Job } from '../job/job.ts';
import type { Task } from './task.ts';

const textSettings: Readonly<Record<string, readonly string[]>> = {
  raw_exec: ['args'],
  exec: ['args'],
  java: ['args', 'jvm_options'],
  docker: ['args', 'entrypoint', 'labels', 'sysctl', 'ulimit'],
};

type Config = Readonly<Record<string, unknown>>;

/** The configuration with these settings as text; the same object if they are text already. */
export function settingsAsText<C extends Config | null | undefined>(driver: string, config: C): C {
  const names = Object.hasOwn(textSettings, driver) ? textSettings[driver]! : [];
  let changed: Record<string, unknown> | undefined;
  for (const name of names) {
    const value = config && Object.hasOwn(config, name) ? config[name] : undefined;
    const text = asText(value);
    if (text === value) continue;
    changed ??= { ...config };
    changed[name] = text;
  }
  return changed === undefined ? config : (changed as C);
}

function asText(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return textOf(value);
  if (Array.isArray(value)) {
    const items = value.map(asText);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, item, asText(item)] as const);
  if (entries.every(([, item, text]) => item === text)) return value;
  return Object.fromEntries(entries.map(([name, , text]) => [name, text]));
}

const taskAsText = (task: Task): Task => {
  const Config = settingsAsText(task.Driver, task.Config);
  return Config === task.Config ? task : { ...task, Config };
};

/** A stored job with these settings as text; the same object if they are text already. */
export function withSettingsAsText(job: Job): Job {
  let isChanged = false;
  const TaskGroups = job.TaskGroups.map((group) => {
    const Tasks = group.Tasks.map(taskAsText);
    if (Tasks.every((task, index) => task === group.Tasks[index])) return group;
    isChanged = true;
    return { ...group, Tasks };
  });
  return isChanged ? { ...job, TaskGroups } : job;
}

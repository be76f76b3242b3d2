/**
 * Whether a running allocation can take up a new version.
 * Source: docs/behaviour/scheduling.md#updates-in-place.
 */
import type { Network, Port } from '../network/network.ts';
import { isSame } from '../same.ts';
import { settingsAsText } from '../task/driver-settings.ts';
import type { Task } from '../task/task.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import type { Job } from './job.ts';
import { groupNamed } from './job-rules.ts';

/**
 * The first difference between two versions of a group that needs a new allocation; `undefined` if the update
 * happens in place. Both jobs are canonical and have the group.
 */
export function destructiveChange(before: Job, after: Job, groupName: string): string | undefined {
  const old = groupNamed(before, groupName);
  const next = groupNamed(after, groupName);
  if (old === undefined || next === undefined) return 'group added or removed';
  if (old.Tasks.length !== next.Tasks.length) return 'number of tasks';
  const change = groupFields.find(
    (field) => !isSame(groupPart(old, field), groupPart(next, field)),
  );
  if (change !== undefined) return change;
  for (const { Name } of next.Tasks) {
    const taskChange = destructiveTaskChange(before, after, groupName, Name);
    if (taskChange !== undefined) return `task ${Name}: ${taskChange}`;
  }
  return undefined;
}

/** The first difference of a task that needs a new allocation. The meta of its job and group counts. */
export function destructiveTaskChange(
  before: Job,
  after: Job,
  groupName: string,
  taskName: string,
): string | undefined {
  const [old, next] = [before, after].map((job) => {
    const group = groupNamed(job, groupName);
    const task = group?.Tasks.find(({ Name }) => Name === taskName);
    return task && { task, meta: { ...job.Meta, ...group?.Meta, ...task.Meta } };
  });
  if (old === undefined || next === undefined) return next === old ? undefined : 'new';
  return taskDifference(old.task, next.task) ?? (isSame(old.meta, next.meta) ? undefined : 'Meta');
}

const groupFields = [
  'EphemeralDisk',
  'Networks',
  'Registry',
  'Connect',
  'Volumes',
  'RenderTemplates',
] as const;

function groupPart(group: TaskGroup, field: (typeof groupFields)[number]): unknown {
  switch (field) {
    case 'Networks':
      return networks(group.Networks);
    case 'Connect':
      return (group.Services ?? []).flatMap((service) =>
        service.Connect === null ? [] : [[service.Name, service.PortLabel, service.Connect]],
      );
    case 'RenderTemplates':
      return group.RestartPolicy.RenderTemplates;
    default:
      return group[field];
  }
}

const taskFields = [
  'Driver',
  'User',
  'Env',
  'Artifacts',
  'Secrets',
  'SecretFetches',
  'Registry',
  'Templates',
  'CSIPluginConfig',
  'VolumeMounts',
  'Identity',
  'Identities',
] as const satisfies readonly (keyof Task)[];

const resourceFields = [
  'CPU',
  'Cores',
  'MemoryMB',
  'MemoryMaxMB',
  'SecretsMB',
  'Devices',
  'NUMA',
] as const satisfies readonly (keyof Task['Resources'])[];

function taskDifference(old: Task, next: Task): string | undefined {
  const field = taskFields.find((name) => !isSame(old[name], next[name]));
  if (field !== undefined) return field;
  const [before, after] = [old, next].map(({ Driver, Config }) => settingsAsText(Driver, Config));
  if (!isSame(before, after)) return 'Config';
  const resource = resourceFields.find(
    (name) => !isSame(old.Resources[name], next.Resources[name]),
  );
  if (resource !== undefined) return `Resources.${resource}`;
  if (!isSame(networks(old.Resources.Networks), networks(next.Resources.Networks))) {
    return 'Resources.Networks';
  }
  if (old.RestartPolicy.RenderTemplates !== next.RestartPolicy.RenderTemplates) {
    return 'RestartPolicy.RenderTemplates';
  }
  return old.LogConfig.Disabled === next.LogConfig.Disabled ? undefined : 'LogConfig.Disabled';
}

/** The part of the networks that matters: without the order of ports and the values of dynamic ports. */
function networks(list: readonly Network[] | null): unknown {
  return (list ?? []).map((network) => ({
    Mode: network.Mode,
    MBits: network.MBits,
    Hostname: network.Hostname,
    DNS: network.DNS,
    CNI: network.CNI,
    Reserved: ports(network.ReservedPorts, (port) => port.Value),
    Dynamic: ports(network.DynamicPorts, () => 0),
  }));
}

const ports = (list: readonly Port[] | null, value: (port: Port) => number): unknown =>
  Object.fromEntries(
    (list ?? []).map((port) => [port.Label, [value(port), port.To, port.HostNetwork]]),
  );

import type { World } from '../../base/ports.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Fault } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { settingsAsText } from '../../model/task/driver-settings.ts';
import type { Task } from '../../model/task/task.ts';
import type { AllocationFiles } from '../allocation-runner/files.ts';
import type { Defences } from '../defences.ts';
import type { TaskDirectories } from '../directories.ts';
import {
  type Driver,
  DriverFailure,
  type DriverTask,
  type DriverVolume,
} from '../drivers/driver.ts';
import type { TaskEnvironment } from '../environment/environment.ts';
import { interpolate, interpolateDeep } from '../environment/interpolate.ts';
import type { TaskHookFactory } from '../hooks/hook.ts';
import { findSystemUser, type SystemUser } from '../system-user.ts';

/** The part of its allocation that a task's runner needs. */
export interface TaskContext {
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  /** Default: all. */
  readonly defences?: Defences | undefined;
  readonly allocId: string;
  readonly allocation: () => Allocation;
  /** `undefined` when this node has no such driver. */
  readonly driver: Driver | undefined;
  readonly directories: TaskDirectories;
  /** Default: on disk. */
  readonly files?: AllocationFiles | undefined;
  /** As of the newest update in place. */
  readonly job: () => Job;
  readonly task: () => Task;
  /** `added` are variables of hooks. */
  readonly environment: (added: Readonly<Record<string, string>>) => TaskEnvironment;
  /** The allocation's own user, once it is leased. Absent: the allocation has none. */
  readonly ownUser?: () => SystemUser | undefined;
  /** Resolves when the hooks of its allocation have finished. */
  readonly ready: Promise<void>;
  /** Whether its allocation is about to kill it. */
  readonly isEnding: () => boolean;
  /** In the order in which they run. */
  readonly hooks: readonly TaskHookFactory[];
  /** Resolves when the present state of the runner is on disk. Never rejects. */
  readonly save: () => Promise<void>;
  /** Saves it before long. */
  readonly saveSoon: () => void;
  /** The task's state has changed. */
  readonly changed: () => void;
}

export const runIdOf = (allocId: string, task: string, run: number): string =>
  `${allocId}/${task}#${run}`;

/** Whether the task runs as its allocation's own user. */
const hasOwnUser = ({ task, driver, ownUser }: TaskContext): boolean =>
  task().User === '' && driver?.usesOwnUser === true && ownUser !== undefined;

/** The user that the task names, or else its driver's default. */
function namedUser(context: TaskContext): string {
  const { User } = context.task();
  if (User === '') return context.driver?.defaultUser ?? '';
  return interpolate(User, context.environment({}).lookup);
}

/**
 * The owner of the task's files on this machine; `undefined`: the agent's user. Users of an image
 * exist only in the image: its driver gives them their files.
 */
export function ownerOnHost(context: TaskContext): SystemUser | undefined {
  if (context.driver?.capabilities.fileSystemIsolation === 'image') return undefined;
  return hasOwnUser(context) ? context.ownUser?.() : findSystemUser(namedUser(context));
}

/**
 * @throws DriverFailure when the task is to run as its allocation's own user and that has not been
 *         leased
 */
function userOf(context: TaskContext): Pick<DriverTask, 'user' | 'ownUser'> {
  if (!hasOwnUser(context)) return { user: namedUser(context) };
  const ownUser = context.ownUser?.();
  if (ownUser !== undefined) return { user: '', ownUser };
  throw new DriverFailure('the node has no user id for its allocation', true);
}

/** One run for the driver, with all references resolved. */
export function describeRun(
  context: TaskContext,
  run: number,
  added: Readonly<Record<string, string>>,
  volumes: readonly DriverVolume[],
): DriverTask {
  const { allocId, directories } = context;
  const task = context.task();
  const allocation = context.allocation();
  const { Shared, Tasks } = allocation.AllocatedResources;
  const held = Tasks[task.Name];
  const { variables, lookup } = context.environment(added);
  // The job may have been stored when these settings were no text yet.
  const settings = settingsAsText(task.Driver, task.Config ?? {});
  return {
    runId: runIdOf(allocId, task.Name, run),
    allocId,
    namespace: allocation.Namespace,
    jobId: allocation.JobID,
    groupName: allocation.TaskGroup,
    taskName: task.Name,
    config: interpolateDeep(settings, lookup) as Record<string, unknown>,
    variables,
    directories,
    volumes,
    resources: {
      cpuMhz: held?.Cpu.CpuShares ?? task.Resources.CPU,
      cores: held?.Cpu.ReservedCores ?? [],
      memoryMb: held?.Memory.MemoryMB ?? task.Resources.MemoryMB,
      memoryMaxMb: held?.Memory.MemoryMaxMB ?? task.Resources.MemoryMaxMB,
    },
    ports: (Shared.Ports ?? []).map(({ Label, Value, To, HostIP }) => ({
      label: Label,
      value: Value,
      to: To,
      hostIp: HostIP,
    })),
    ...userOf(context),
    logs: {
      directory: directories.logs,
      name: task.Name,
      maxFiles: task.LogConfig.MaxFiles,
      maxFileBytes: task.LogConfig.MaxFileSizeMB * 2 ** 20,
      disabled: task.LogConfig.Disabled,
    },
  };
}

export const sentenceOf = (faults: readonly Fault[]): string =>
  faults.map(({ message }) => message).join('; ');

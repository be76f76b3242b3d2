import type { World } from '../../base/ports.ts';
import type { Fault } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import type { Task } from '../../model/task/task.ts';
import { makeTaskDirectories, type TaskDirectories } from '../directories.ts';
import type { Driver, DriverTask } from '../drivers/driver.ts';
import type { TaskEnvironment } from '../environment/environment.ts';
import { interpolate, interpolateDeep } from '../environment/interpolate.ts';
import { writeBelow } from '../files.ts';

/** What a task's runner is given by its allocation's. */
export interface TaskContext {
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  readonly allocId: string;
  /** `undefined` when this node has no such driver. */
  readonly driver: Driver | undefined;
  readonly directories: TaskDirectories;
  /** As of the newest update in place. */
  readonly job: () => Job;
  readonly task: () => Task;
  readonly environment: () => TaskEnvironment;
  /** Resolves when the present state of the runner is on disk. Never rejects. */
  readonly save: () => Promise<void>;
  /** The task's state has changed. */
  readonly changed: () => void;
}

export const runIdOf = (allocId: string, task: string, run: number): string =>
  `${allocId}/${task}#${run}`;

/** One run as the driver wants it: directories made, all references resolved. */
export async function prepareRun(context: TaskContext, run: number): Promise<DriverTask> {
  const { allocId, directories } = context;
  const task = context.task();
  const { variables, lookup } = context.environment();
  const user = interpolate(task.User, lookup);
  await makeTaskDirectories(directories, user);
  const { Payload } = context.job();
  if (task.DispatchPayload !== null && Payload !== null) {
    const file = interpolate(task.DispatchPayload.File, lookup);
    await writeBelow(directories.local, file, Buffer.from(Payload, 'base64'), user);
  }
  return {
    runId: runIdOf(allocId, task.Name, run),
    allocId,
    taskName: task.Name,
    config: interpolateDeep(task.Config ?? {}, lookup) as Record<string, unknown>,
    variables,
    directory: directories.root,
    localDirectory: directories.local,
    user,
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

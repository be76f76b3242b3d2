import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { SupervisorClient } from '../supervisor/client.ts';
import { SupervisorRefusal } from '../supervisor/protocol.ts';
import { type ConfigFields, configFaults, text, textList } from './config.ts';
import { type Driver, DriverFailure, type DriverHandle, type DriverTask } from './driver.ts';
import { execBeside } from './exec-beside.ts';

const fields: ConfigFields = {
  command: { required: true, check: text },
  args: { check: textList },
  work_dir: { check: text },
};

/** Failures of a start that the next try may not meet. */
const passingCodes = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY', 'ENOSPC']);

/** Child processes without isolation, owned by the supervisor. */
export function rawExecDriver(supervisor: SupervisorClient): Driver {
  return {
    name: 'raw_exec',
    capabilities: {
      sendSignals: true,
      exec: true,
      fileSystemIsolation: 'none',
      networkModes: ['host', 'group'],
    },
    defaultKillSignal: 'SIGINT',
    fingerprint: async () => ({
      detected: true,
      healthy: true,
      description: 'Healthy',
      attributes: {},
    }),
    validate: (config) => configFaults(config, fields),
    start: (task) => start(supervisor, task),
    recover: async (runId) => {
      const status = (await supervisor.connect()).find(({ taskId }) => taskId === runId);
      return status && handleOf(supervisor, runId);
    },
    exec: (runId, command) => execBeside(supervisor, runId, command),
    endUnclaimed: (claimed) => endUnclaimed(supervisor, claimed),
  };
}

async function start(supervisor: SupervisorClient, task: DriverTask): Promise<DriverHandle> {
  const {
    command,
    args = [],
    work_dir: workDirectory = '',
  } = task.config as {
    command: string;
    args?: readonly string[];
    work_dir?: string;
  };
  const { runId, allocId, taskName, variables, user, logs, directories } = task;
  try {
    await supervisor.start({
      taskId: runId,
      allocId,
      taskName,
      command: await findCommand(command, task),
      args,
      env: variables,
      directory: resolve(directories.root, workDirectory),
      user,
      logs,
    });
  } catch (error) {
    if (error instanceof DriverFailure) throw error;
    const recoverable = !(error instanceof SupervisorRefusal) || passingCodes.has(error.code);
    throw new DriverFailure((error as Error).message, recoverable);
  }
  return handleOf(supervisor, runId);
}

/**
 * A name without a slash is looked up in the task's `local` directory, in the task's directory and
 * in the task's PATH; a path is relative to the task's directory.
 */
async function findCommand(command: string, task: DriverTask): Promise<string> {
  const path = task.variables.PATH ?? '';
  const { root, local } = task.directories;
  const places = command.includes('/')
    ? [root]
    : [local, root, ...path.split(':').filter(isAbsolute)];
  const candidates = isAbsolute(command) ? [command] : places.map((place) => join(place, command));
  let found: string | undefined;
  for (const candidate of candidates) {
    if (!(await isFile(candidate))) continue;
    found = candidate;
    if (await isExecutable(candidate)) return candidate;
  }
  if (found !== undefined) throw new DriverFailure(`the command ${found} is not executable`, false);
  const where = command.includes('/') ? 'does not exist' : `was not found in ${places.join(':')}`;
  throw new DriverFailure(`the command "${command}" ${where}`, false);
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

function handleOf(supervisor: SupervisorClient, runId: string): DriverHandle {
  return {
    runId,
    exited: supervisor.exitOf(runId),
    async signal(signal) {
      const sent = await supervisor.signal(runId, signal).catch((error: Error) => {
        throw new DriverFailure(error.message, false);
      });
      if (!sent) throw new DriverFailure('the task is not running', false);
    },
    stop: (signal, timeoutMs) => supervisor.kill(runId, signal, timeoutMs),
    forget: () => supervisor.forget(runId),
  };
}

async function endUnclaimed(
  supervisor: SupervisorClient,
  claimed: ReadonlySet<string>,
): Promise<void> {
  const unclaimed = (await supervisor.connect()).filter(({ taskId }) => !claimed.has(taskId));
  await Promise.all(
    unclaimed.map(async ({ taskId, exit }) => {
      if (exit === undefined) await supervisor.kill(taskId, 'SIGTERM', 5000);
      await supervisor.exitOf(taskId);
      await supervisor.forget(taskId);
    }),
  );
}

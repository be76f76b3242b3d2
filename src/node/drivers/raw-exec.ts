import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { limits } from '../../model/limits.ts';
import { type CgroupLayout, noCgroups } from '../supervisor/cgroups/layout.ts';
import { type CgroupPlan, isByBirth, planCgroup } from '../supervisor/cgroups/plan.ts';
import type { SupervisorClient } from '../supervisor/client.ts';
import { type ConfigFields, configFaults, text, textList } from './config.ts';
import { type Driver, DriverFailure, type DriverHandle, type DriverTask } from './driver.ts';
import { execBeside } from './exec-beside.ts';
import { endUnclaimed, processCount, processMethods, startProcess } from './process.ts';

const fields: ConfigFields = {
  command: { required: true, check: text },
  args: { check: textList },
  work_dir: { check: text },
  pids_limit: { check: processCount },
};

/**
 * Runs tasks as child processes of the supervisor, without isolation. With control groups, each run
 * has a group that contains all its processes, and bounds only their number.
 */
export function rawExecDriver(
  supervisor: SupervisorClient,
  cgroups: CgroupLayout = noCgroups,
): Driver {
  const { expectStart, ...methods } = processMethods(supervisor);
  const plan = groupsOf(cgroups, 'any', {});
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
    start: (task) => start(supervisor, cgroups, task),
    ...methods,
    // The wait that it begins would hold up the making of groups.
    ...(plan !== undefined && !isByBirth(plan) && { expectStart }),
    exec: (runId, command) => execBeside(supervisor, runId, command),
    endUnclaimed: (claimed) => endUnclaimed(supervisor, claimed),
  };
}

interface RawExecConfig {
  readonly command: string;
  readonly args?: readonly string[];
  readonly work_dir?: string;
  readonly pids_limit?: number;
}

async function start(
  supervisor: SupervisorClient,
  cgroups: CgroupLayout,
  task: DriverTask,
): Promise<DriverHandle> {
  const {
    command,
    args = [],
    work_dir: workDirectory = '',
    ...config
  } = task.config as unknown as RawExecConfig;
  const { runId, allocId, taskName, variables, user, logs, directories } = task;
  const cgroup = groupsOf(cgroups, runId, config);
  if (cgroup === undefined && config.pids_limit !== undefined) {
    throw new DriverFailure('pids_limit needs control groups, which cannot be made here', false);
  }
  return startProcess(supervisor, {
    taskId: runId,
    allocId,
    taskName,
    command: await findCommand(command, task),
    args,
    env: variables,
    directory: resolve(directories.root, workDirectory),
    user,
    logs,
    ...(cgroup !== undefined && { cgroup }),
  });
}

const groupsOf = (
  cgroups: CgroupLayout,
  runId: string,
  { pids_limit: most }: Pick<RawExecConfig, 'pids_limit'>,
): CgroupPlan | undefined =>
  planCgroup(cgroups, runId, {
    isRequired: most !== undefined,
    processesMax: most ?? limits.task.processesMax,
  });

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

/**
 * Makes the request to the supervisor that runs a task in a sandbox.
 *
 * Invariants
 *  I1. Programs with more rights than the task see no variable of the task that could change their
 *      behaviour: `bwrap` gets none at all, `setpriv` none that its loader uses.
 *  I2. A demand of the `Config` or for cores that cannot be met is refused, never ignored. Only CPU
 *      and memory stay unbounded without control groups, as the node's attributes say.
 *  I3. The task cannot gain rights after its start.
 */
import { lstat, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { limits } from '../../../model/limits.ts';
import type { Defences } from '../../defences.ts';
import { hasController } from '../../supervisor/cgroups/layout.ts';
import { type CgroupLimits, planCgroup } from '../../supervisor/cgroups/plan.ts';
import {
  oldestProtocolVersion,
  protocolVersion,
  type StartRequest,
} from '../../supervisor/protocol.ts';
import { DriverFailure, type DriverResources, type DriverTask } from '../driver.ts';
import { asTask, capabilityOptions, rightsOf, type TaskRights } from './rights.ts';
import { encode, filterFor } from './seccomp/filter.ts';
import { isKnownArchitecture } from './seccomp/system-calls.ts';
import type { IsolationConfig, IsolationTools } from './settings.ts';
import { insideDirectories, mountOf, viewOptions } from './view.ts';
import { checkVolumes } from './volumes.ts';

export interface InsideCommand {
  readonly command: string;
  readonly args: readonly string[];
}

const mebibyte = 2 ** 20;

/** Rejects with {@link DriverFailure}. */
export async function isolate(
  task: DriverTask,
  inside: InsideCommand,
  tools: IsolationTools,
): Promise<StartRequest> {
  const config = task.config as IsolationConfig;
  const { runId, allocId, taskName, logs, directories, volumes } = task;
  await checkVolumes(task, tools);
  const workDirectory = posix.resolve('/', config.work_dir ?? '');
  await checkDirectory(workDirectory, task, tools);
  const command = await resolveInside(inside.command, task, tools);
  const variables = { TMPDIR: insideDirectories.temporary, ...task.variables };
  const { setpriv, defences } = tools;
  const rights = rightsOf(task, config, tools);
  const own = asTask([command, ...inside.args], rights, { setpriv, variables });
  const cgroup = cgroupOf(task, config, tools);
  const isRoot = setpriv !== undefined;
  const hasOwnProcesses = config.pid_mode !== 'host' && defences.ownProcesses;
  const kind = { isRoot, hasOwnProcesses, writesLogs: !defences.logsOutOfReach };
  return {
    taskId: runId,
    allocId,
    taskName,
    logs,
    command: own.command[0]!,
    args: own.command.slice(1),
    env: own.variables,
    directory: workDirectory,
    user: '',
    sandbox: {
      program: tools.bubblewrap,
      options: [
        ...namespaceOptions(config, defences),
        ...capabilityOptions(rights),
        ...viewOptions(tools.view, directories, kind, volumes),
        '--chdir',
        workDirectory,
      ],
      ...filterOf(rights.bounding, defences),
      ...(rights.hasOwnUsers && { hasOwnUsers: true }),
      oldestSupervisor: needsNewest(config, rights) ? protocolVersion : oldestProtocolVersion,
    },
    ...(cgroup !== undefined && { cgroup }),
  };
}

/** The system call filter. None for a processor without a table, as the node's attributes say. */
function filterOf(capabilities: readonly string[], { systemCalls }: Defences) {
  if (!systemCalls || !isKnownArchitecture(process.arch)) return {};
  return { systemCallFilter: encode(filterFor(process.arch, capabilities)).toString('base64') };
}

/** Whether older supervisors would ignore the user namespace that confines the task. */
const needsNewest = (config: IsolationConfig, { owner }: TaskRights): boolean =>
  config.pid_mode === 'host' || config.ipc_mode === 'host' || owner?.uid === 0 || owner?.gid === 0;

export const namespaceOptions = (
  { pid_mode: pids, ipc_mode: ipc }: IsolationConfig,
  { ownProcesses, ownIpc }: Defences,
): string[] => [
  // The sandbox ends with the supervisor, as its DESIGN.md says.
  '--die-with-parent',
  '--unshare-uts',
  ...(pids === 'host' || !ownProcesses ? [] : ['--unshare-pid']),
  ...(ipc === 'host' || !ownIpc ? [] : ['--unshare-ipc']),
];

function cgroupOf(task: DriverTask, config: IsolationConfig, { cgroups }: IsolationTools) {
  const wanted = limitsOf(task.resources);
  if (config.pids_limit !== undefined && !hasController(cgroups, 'pids')) {
    throw new DriverFailure('pids_limit needs control groups, which cannot be made here', false);
  }
  if (wanted.cores.length > 0 && !hasController(cgroups, 'cpuset')) {
    throw new DriverFailure('cores need control groups, which cannot be made here', false);
  }
  return planCgroup(cgroups, task.runId, {
    isRequired: true,
    processesMax: config.pids_limit ?? limits.task.processesMax,
    limits: wanted,
  });
}

/** A `memoryMaxMb` of -1 means no limit, as in the job. */
export function limitsOf(resources: DriverResources): CgroupLimits {
  const { cpuMhz, cores, memoryMb, memoryMaxMb } = resources;
  const most = memoryMaxMb === 0 ? memoryMb : memoryMaxMb;
  return {
    cpuShares: cpuMhz,
    cores,
    memoryBytes: most < 0 ? 0 : most * mebibyte,
    memoryKeptBytes: most === memoryMb ? 0 : memoryMb * mebibyte,
  };
}

/** A name without a slash is looked up in `/local` and in the task's PATH; a path is a path in the sandbox. */
async function resolveInside(
  command: string,
  task: DriverTask,
  tools: IsolationTools,
): Promise<string> {
  const path = task.variables.PATH ?? '';
  const places = ['/local', ...path.split(':').filter((place) => place.startsWith('/'))];
  const candidates = command.includes('/')
    ? [posix.resolve('/', command)]
    : places.map((place) => posix.join(place, command));
  let found: string | undefined;
  for (const candidate of candidates) {
    const kind = await kindOf(candidate, task, tools);
    if (kind === 'program') return candidate;
    if (kind === 'file') found ??= candidate;
  }
  if (found !== undefined) throw new DriverFailure(`the command ${found} is not executable`, false);
  const where = command.includes('/')
    ? 'is not visible to the task'
    : `was not found in ${places.join(':')}, as the task sees them`;
  throw new DriverFailure(`the command "${command}" ${where}`, false);
}

type Kind = 'program' | 'file' | 'directory' | undefined;

async function kindOf(inside: string, task: DriverTask, tools: IsolationTools): Promise<Kind> {
  const mount = mountOf(tools.view, task.directories, inside, task.volumes);
  if (mount === undefined) return undefined;
  const parts = inside.slice(mount.inside.length).split('/').filter(Boolean);
  // Only the kernel follows links of a task, in the sandbox, so that errors reveal nothing of the machine's files.
  const isHeld = mount.isOwn && tools.defences.heldPaths;
  if (isHeld && (await passesLink(mount.host, parts))) return 'program';
  const path = posix.join(mount.host, ...parts);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return 'directory';
  if (found?.isFile()) return (found.mode & 0o111) === 0 ? 'file' : 'program';
  // A link may lead to a place that only the task can reach.
  const link = await lstat(path).catch(() => undefined);
  return link?.isSymbolicLink() ? 'program' : undefined;
}

async function passesLink(directory: string, parts: readonly string[]): Promise<boolean> {
  let path = directory;
  for (const part of parts) {
    path = posix.join(path, part);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) return found?.isSymbolicLink() === true;
  }
  return false;
}

async function checkDirectory(
  path: string,
  task: DriverTask,
  tools: IsolationTools,
): Promise<void> {
  const own = path === '/' || path === '/proc' || path.startsWith('/dev');
  if (own) return;
  const kind = await kindOf(path, task, tools);
  if (kind === 'directory' || kind === 'program') return;
  throw new DriverFailure(`work_dir "${path}" is not visible to the task`, false);
}

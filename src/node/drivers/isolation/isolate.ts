/**
 * From a task to a request for the supervisor that runs it in a sandbox.
 *
 * Invariants
 *  I1. No program that runs with more rights than the task sees a variable of the task that would
 *      change what it does: `bwrap` gets none at all, `setpriv` none that its loader heeds.
 *  I2. What a task's `Config` or its cores ask for and cannot be had is refused, never left out.
 *      Only CPU and memory are not bounded where there are no control groups, as the node tells.
 *  I3. The task cannot get more rights than it begins with.
 */
import { lstat, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { limits } from '../../../model/limits.ts';
import type { UidRange } from '../../../model/node/uid-range.ts';
import type { Defences } from '../../defences.ts';
import { type CgroupLayout, hasController } from '../../supervisor/cgroups/layout.ts';
import { type CgroupLimits, planCgroup } from '../../supervisor/cgroups/plan.ts';
import type { StartRequest } from '../../supervisor/protocol.ts';
import { findSystemUser } from '../../system-user.ts';
import { DriverFailure, type DriverResources, type DriverTask } from '../driver.ts';
import { type GrantedCapabilities, grantCapabilities } from './capabilities.ts';
import { type HostView, hostPath, insideDirectories, viewOptions } from './view.ts';
import { checkVolumes } from './volumes.ts';

/** What an operator may change for a node's isolated tasks. */
export interface IsolationSettings {
  /** Instead of the system's own programs: host paths, and where tasks see them, read-only. */
  readonly view?: HostView;
  /** What `cap_add` may name; by default what every task begins with. */
  readonly allowedCapabilities?: readonly string[];
  /** Where the users come from that are one allocation's alone. */
  readonly uidRange?: UidRange;
}

/** What isolation needs of a machine, as it was found. Paths are absolute. */
export interface IsolationTools {
  readonly bubblewrap: string;
  /** Only root can make a task another user, and then by this. */
  readonly setpriv: string | undefined;
  readonly view: HostView;
  readonly allowedCapabilities: readonly string[];
  /** Of those that the agent has itself. */
  readonly ownCapabilities: ReadonlySet<string>;
  readonly cgroups: CgroupLayout;
  readonly defences: Defences;
}

/** What an isolated task's `Config` says besides its command. */
export interface IsolationConfig {
  readonly work_dir?: string;
  readonly pid_mode?: 'private' | 'host';
  readonly ipc_mode?: 'private' | 'host';
  readonly cap_add?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly pids_limit?: number;
}

/** The command, as it is in there. */
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
  await checkVolumes(task, tools.view);
  const workDirectory = posix.resolve('/', config.work_dir ?? '');
  await checkDirectory(workDirectory, task, tools);
  const command = await resolveInside(inside.command, task, tools);
  const variables = { TMPDIR: insideDirectories.temporary, ...task.variables };
  const granted = granting(config, tools);
  const switched = asUser(task, [command, ...inside.args], { tools, granted, variables });
  const cgroup = cgroupOf(task, config, tools);
  return {
    ...{ taskId: runId, allocId, taskName, logs },
    command: switched.command[0]!,
    args: switched.command.slice(1),
    env: switched.variables,
    directory: workDirectory,
    user: '',
    sandbox: {
      program: tools.bubblewrap,
      options: [
        ...namespaceOptions(config, tools.defences),
        ...capabilityOptions(tools, granted),
        ...viewOptions(tools.view, directories, tools.setpriv !== undefined, volumes),
        ...['--chdir', workDirectory],
      ],
    },
    ...(cgroup !== undefined && { cgroup }),
  };
}

export const namespaceOptions = (
  { pid_mode: pids, ipc_mode: ipc }: IsolationConfig,
  { ownProcesses, ownIpc }: Defences,
): string[] => [
  // The sandbox's processes end with the supervisor, as their table says.
  '--die-with-parent',
  '--unshare-uts',
  ...(pids === 'host' || !ownProcesses ? [] : ['--unshare-pid']),
  ...(ipc === 'host' || !ownIpc ? [] : ['--unshare-ipc']),
];

/** What `setpriv` needs to let go of everything else. */
const switching = ['setuid', 'setgid', 'setpcap'];

function capabilityOptions({ setpriv }: IsolationTools, granted: GrantedCapabilities): string[] {
  // Without root the sandbox is a user namespace, in which there are none.
  if (setpriv === undefined) return [];
  const kept = new Set([...granted.bounding, ...switching]);
  const added = [...kept].flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]);
  return ['--cap-drop', 'ALL', ...added];
}

function granting(config: IsolationConfig, tools: IsolationTools): GrantedCapabilities {
  const { cap_add: add = [], cap_drop: drop = [] } = config;
  const { allowedCapabilities, ownCapabilities, setpriv } = tools;
  if (setpriv === undefined && add.length > 0) {
    throw new DriverFailure('cap_add needs an agent that runs as root', false);
  }
  const granted = grantCapabilities({ add, drop }, allowedCapabilities);
  const missing = granted.ambient.find((name) => !ownCapabilities.has(name));
  if (missing !== undefined) {
    throw new DriverFailure(`cap_add names "${missing}", which the agent itself has not`, false);
  }
  return { ...granted, bounding: granted.bounding.filter((name) => ownCapabilities.has(name)) };
}

interface Switch {
  readonly tools: Pick<IsolationTools, 'setpriv'>;
  readonly granted: GrantedCapabilities;
  readonly variables: Readonly<Record<string, string>>;
}

/** The command behind what makes it another user with no more than was granted. */
function asUser(
  { user, ownUser }: DriverTask,
  command: readonly string[],
  { tools, granted, variables }: Switch,
) {
  if (tools.setpriv === undefined) {
    const own = process.getuid?.();
    if (user !== '' && findSystemUser(user)?.uid !== own) {
      throw new DriverFailure(`only an agent that runs as root can run a task as "${user}"`, false);
    }
    return { command, variables };
  }
  const owner = ownUser ?? findSystemUser(user);
  if (owner === undefined) {
    throw new DriverFailure(`there is no user "${user}" on this machine`, false);
  }
  const { uid, gid } = owner;
  return withRights(tools.setpriv, command, {
    variables,
    uid,
    gid,
    bounding: granted.bounding,
    // Root has all of the bounding set by being root.
    ambient: uid === 0 ? [] : granted.ambient,
  });
}

export interface Rights {
  readonly uid: number;
  readonly gid: number;
  readonly bounding: readonly string[];
  readonly ambient: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** Of the C library: what it does not heed in programs that have more rights than their caller. */
const loaderVariable =
  /^(LD_.*|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|MALLOC_.*|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR)$/;

/** I1: `variables` are what the first program of `command` is to be given. */
export function withRights(setpriv: string, command: readonly string[], rights: Rights) {
  const { uid, gid, bounding, ambient, variables } = rights;
  const set = (names: readonly string[]): string =>
    ['-all', ...names.map((name) => `+${name}`)].join(',');
  const late = Object.entries(variables).filter(([name]) => loaderVariable.test(name));
  const early = Object.entries(variables).filter(([name]) => !loaderVariable.test(name));
  const added = late.map(([name, value]) => `${name}=${value}`);
  return {
    command: [
      setpriv,
      ...['--reuid', String(uid), '--regid', String(gid), '--clear-groups'],
      `--bounding-set=${set(bounding)}`,
      `--inh-caps=${set(ambient)}`,
      `--ambient-caps=${set(ambient)}`,
      '--no-new-privs',
      '--',
      ...(added.length > 0 ? ['/usr/bin/env', '--', ...added] : []),
      ...command,
    ],
    variables: Object.fromEntries(early) as Record<string, string>,
  };
}

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

/** -1 as the most memory means no limit, as in the job. */
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

/**
 * A name without a slash is looked up in `/local` and in the task's PATH; a path is one of what the
 * task sees.
 */
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
    ? 'does not exist among what the task sees'
    : `was not found in ${places.join(':')}, as the task sees them`;
  throw new DriverFailure(`the command "${command}" ${where}`, false);
}

type Kind = 'program' | 'file' | 'directory' | undefined;

async function kindOf(inside: string, task: DriverTask, { view }: IsolationTools): Promise<Kind> {
  const path = hostPath(view, task.directories, inside, task.volumes);
  if (path === undefined) return undefined;
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return 'directory';
  if (found?.isFile()) return (found.mode & 0o111) === 0 ? 'file' : 'program';
  // A link may lead to where only the task gets.
  const link = await lstat(path).catch(() => undefined);
  return link?.isSymbolicLink() ? 'program' : undefined;
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
  throw new DriverFailure(`work_dir "${path}" does not exist among what the task sees`, false);
}

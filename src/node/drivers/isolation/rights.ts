/** The user and the rights of an isolated task, and the command that sets them. */
import { findSystemUser, type SystemUser } from '../../system-user.ts';
import { DriverFailure, type DriverTask } from '../driver.ts';
import { type GrantedCapabilities, grantCapabilities } from './capabilities.ts';
import type { IsolationConfig, IsolationTools } from './settings.ts';

/** Capabilities that `setpriv` needs, and drops afterwards. */
const switching = ['setuid', 'setgid', 'setpcap'];

export interface TaskRights extends GrantedCapabilities {
  /** `undefined`: the agent's user, as the agent is not root. */
  readonly owner: SystemUser | undefined;
  /**
   * The task has its own user namespace, in which users keep their numbers. There even root has no
   * power outside. Not for tasks with `cap_add`, whose capabilities are meant for the machine and
   * would be void there.
   */
  readonly hasOwnUsers: boolean;
}

/** Throws {@link DriverFailure} for what the node or the machine does not allow. */
export function rightsOf(
  task: Pick<DriverTask, 'user' | 'ownUser'>,
  config: IsolationConfig,
  tools: IsolationTools,
): TaskRights {
  const { cap_add: add = [], cap_drop: drop = [] } = config;
  const { allowances, ownCapabilities, setpriv, defences } = tools;
  const owner = ownerOf(task, tools);
  if (setpriv === undefined) {
    if (add.length > 0) throw refused('cap_add needs an agent that runs as root');
    return { owner, bounding: [], ambient: [], hasOwnUsers: false };
  }
  const allowed = allowances.allowedCapabilities;
  const granted = grantCapabilities({ add, drop }, { allowed, isRoot: owner?.uid === 0 });
  const missing = granted.ambient.find((name) => !ownCapabilities.has(name));
  if (missing !== undefined) {
    throw refused(`cap_add names "${missing}", which the agent itself has not`);
  }
  // The sandbox's maker would be in the task's reach: both are root in one namespace.
  if (granted.ambient.length > 0 && config.pid_mode === 'host') {
    throw refused('cap_add cannot be had together with pid_mode = "host"');
  }
  const hasOwnUsers = granted.ambient.length === 0 && defences.userNamespaces;
  const bounding = granted.bounding.filter((name) => hasOwnUsers || ownCapabilities.has(name));
  return { ...granted, owner, bounding, hasOwnUsers };
}

function ownerOf(
  { user, ownUser }: Pick<DriverTask, 'user' | 'ownUser'>,
  { setpriv, allowances }: IsolationTools,
): SystemUser | undefined {
  const owner = ownUser ?? findSystemUser(user);
  if (setpriv === undefined) {
    if (user === '' || owner?.uid === process.getuid?.()) return undefined;
    throw refused(`only an agent that runs as root can run a task as "${user}"`);
  }
  if (owner === undefined) throw refused(`there is no user "${user}" on this machine`);
  const isRoot = owner.uid === 0 || owner.gid === 0;
  if (isRoot && !allowances.allowsRoot) {
    const who = owner.uid === 0 ? 'root' : 'of the group of root';
    throw refused(
      `the user "${user}" is ${who} on this machine, and isolation.allow_root of this node allows no task that`,
    );
  }
  return owner;
}

const refused = (message: string): DriverFailure => new DriverFailure(message, false);

/** Options of `bwrap`. Without root the sandbox is a user namespace without capabilities. */
export function capabilityOptions({ owner, bounding }: TaskRights): string[] {
  if (owner === undefined) return [];
  const kept = new Set([...bounding, ...switching]);
  const added = [...kept].flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]);
  return ['--cap-drop', 'ALL', ...added];
}

/** The command behind `setpriv`, which changes the user and keeps only the granted rights. */
export function asTask(
  command: readonly string[],
  { owner, bounding, ambient }: TaskRights,
  {
    setpriv,
    variables,
  }: {
    readonly setpriv: string | undefined;
    readonly variables: Readonly<Record<string, string>>;
  },
) {
  if (setpriv === undefined || owner === undefined) return { command, variables };
  return withRights(setpriv, command, {
    variables,
    uid: owner.uid,
    gid: owner.gid,
    bounding,
    // Root has the whole bounding set anyway.
    ambient: owner.uid === 0 ? [] : ambient,
  });
}

export interface Rights {
  readonly uid: number;
  readonly gid: number;
  readonly bounding: readonly string[];
  readonly ambient: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Variables that the C library ignores in programs with more rights than their caller, and
 * variables of shells, as a shell is among the programs that enter a sandbox.
 */
const lateVariable =
  /^(LD_.*|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|MALLOC_.*|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR|ENV|BASH.*|SHELLOPTS|PS4|IFS)$/;

/** The returned `variables` are for the first program of `command`. */
export function withRights(setpriv: string, command: readonly string[], rights: Rights) {
  const { uid, gid, bounding, ambient, variables } = rights;
  const set = (names: readonly string[]): string =>
    ['-all', ...names.map((name) => `+${name}`)].join(',');
  const late = Object.entries(variables).filter(([name]) => lateVariable.test(name));
  const early = Object.entries(variables).filter(([name]) => !lateVariable.test(name));
  const added = late.map(([name, value]) => `${name}=${value}`);
  return {
    command: [
      setpriv,
      '--reuid',
      String(uid),
      '--regid',
      String(gid),
      '--clear-groups',
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

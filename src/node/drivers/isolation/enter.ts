/** How a command enters the sandbox of a running task. */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { Defences } from '../../defences.ts';
import { findInside, namespaceOf } from '../../supervisor/inside.ts';
import type { TaskStatus } from '../../supervisor/protocol.ts';
import { DriverFailure } from '../driver.ts';
import { capabilitiesIn } from './capabilities.ts';
import { withRights } from './rights.ts';

/** The program to spawn on the host. */
export interface Entry {
  readonly command: readonly string[];
  /** The task's own variables, the only ones for the spawned program. */
  readonly variables: Readonly<Record<string, string>>;
  /** Paths of the control groups that the spawned process must join first; see `Cgroup.join`. */
  readonly cgroups: readonly string[];
}

export interface EntryTools {
  /** An absolute path. */
  readonly nsenter: string;
  /** `undefined` if the agent is not root: then the command has the task's rights without it. */
  readonly setpriv: string | undefined;
  /** Installs the task's system call filter for the command. */
  readonly bubblewrap: string;
  /** The filter's file for a task with these capabilities. */
  readonly filterFile: (capabilities: readonly string[]) => string;
  readonly defences: Defences;
}

/**
 * The command has the task's view, user, rights and variables, and ends with the task at the
 * latest. To end it earlier, kill all descendants of the spawned process (`descendantsOf`), as
 * `nsenter` passes no signals on.
 * @throws DriverFailure when the task does not run, recoverable if it is about to begin
 */
export function entryInto(
  status: TaskStatus,
  command: readonly string[],
  tools: EntryTools,
): Entry {
  const inside = status.exit === undefined ? findInside(status.pid) : undefined;
  if (inside === undefined) throw new DriverFailure('the task is not running', false);
  if (!hasBegun(inside.command, tools)) throw new DriverFailure('the task has not begun yet', true);
  const known = readRights(inside.command);
  // The command's present directory, as a path could lead out of the sandbox through a task's link.
  const cwd = `/proc/${inside.command}/cwd`;
  const directory = `--wd=${tools.defences.heldPaths ? cwd : readlinkSync(cwd)}`;
  const target = ['--target', String(inside.first)];
  const nsenter = [tools.nsenter, ...target, ...namespacesOf(inside.first), directory, '--'];
  // Without root a task gets no capabilities.
  const capabilities = tools.setpriv === undefined ? [] : known.bounding;
  const entered = known.isFiltered ? behindFilter(nsenter, capabilities, tools) : nsenter;
  const cgroups = status.cgroups ?? [];
  const found = withLocal(inside.first, command);
  if (tools.setpriv === undefined) {
    return { command: [...entered, ...found], variables: known.variables, cgroups };
  }
  const inner = withRights(tools.setpriv, found, known);
  return { command: [...entered, ...inner.command], variables: inner.variables, cgroups };
}

/** Before that the process is the sandbox's own program, with more rights. */
function hasBegun(pid: number, { bubblewrap }: EntryTools): boolean {
  try {
    return ![basename(bubblewrap), 'setpriv'].includes(basename(readlinkSync(`/proc/${pid}/exe`)));
  } catch {
    throw new DriverFailure('the task is not running', false);
  }
}

/**
 * A filter cannot be given to another process, and `nsenter` loads none. So `bwrap` loads it
 * inside, with a view of everything that is there. A shell opens the filter's file before entering,
 * as it is outside.
 */
function behindFilter(
  nsenter: readonly string[],
  capabilities: readonly string[],
  { bubblewrap, filterFile }: EntryTools,
): readonly string[] {
  return [
    '/bin/sh',
    '-c',
    `exec ${filterDescriptor}<"$0" && exec "$@"`,
    filterFile(capabilities),
    ...nsenter,
    bubblewrap,
    '--die-with-parent',
    '--dev-bind',
    '/',
    '/',
    '--seccomp',
    String(filterDescriptor),
    '--',
  ];
}

/** Some shells allow only descriptors below ten. */
const filterDescriptor = 9;

/** Like the task's own command, a name is looked up in `/local` first, then in the PATH. */
function withLocal(first: number, [program = '', ...args]: readonly string[]): readonly string[] {
  if (program.includes('/')) return [program, ...args];
  const inside = `/local/${program}`;
  try {
    const found = lstatSync(`/proc/${first}/root${inside}`);
    // Links are not followed here, as from outside they would lead elsewhere.
    const isProgram = found.isSymbolicLink() || (found.isFile() && (found.mode & 0o111) !== 0);
    return [isProgram ? inside : program, ...args];
  } catch {
    return [program, ...args];
  }
}

/**
 * Options for the namespaces that differ from the host's, and for the task's root. In a user
 * namespace the command keeps its user.
 */
function namespacesOf(pid: number): string[] {
  const foreign = (kind: string): boolean =>
    namespaceOf(pid, kind) !== namespaceOf(process.pid, kind);
  const own = (['mnt', 'uts', 'ipc', 'net', 'pid'] as const).filter(foreign);
  const names = { mnt: '--mount', uts: '--uts', ipc: '--ipc', net: '--net', pid: '--pid' };
  const user = foreign('user') ? ['--user', '--preserve-credentials'] : [];
  return [...user, ...own.map((kind) => names[kind]), '--root'];
}

function readRights(pid: number) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string): string =>
      new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '0';
    return {
      uid: Number(field('Uid')),
      gid: Number(field('Gid')),
      bounding: capabilitiesIn(field('CapBnd')),
      ambient: capabilitiesIn(field('CapAmb')),
      // Tasks of an earlier version have no filter. Filters that this process has too do not count.
      isFiltered: filtersIn(status) > filtersIn(readFileSync('/proc/self/status', 'utf8')),
      variables: variablesOf(readFileSync(`/proc/${pid}/environ`, 'utf8')),
    };
  } catch {
    throw new DriverFailure('the task is not running', false);
  }
}

/** The number of filters; 1 or 0 if the kernel does not count them. */
const filtersIn = (status: string): number =>
  Number(
    /^Seccomp_filters:\s*(\d+)/m.exec(status)?.[1] ?? /^Seccomp:\s*(\d+)/m.exec(status)?.[1] ?? 0,
  );

const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\0')
      .filter((entry) => entry.indexOf('=') > 0)
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );

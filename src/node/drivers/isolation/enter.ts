/** How a command gets into the sandbox of a task that runs, to run beside it. */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { Defences } from '../../defences.ts';
import { findInside, namespaceOf } from '../../supervisor/inside.ts';
import type { TaskStatus } from '../../supervisor/protocol.ts';
import { DriverFailure } from '../driver.ts';
import { capabilitiesIn } from './capabilities.ts';
import { withRights } from './rights.ts';

/** What to spawn on the host. */
export interface Entry {
  readonly command: readonly string[];
  /** The task's own. All that the spawned program may be given. */
  readonly variables: Readonly<Record<string, string>>;
  /** To be joined by the spawned process before the command may do harm; see `Cgroup.join`. */
  readonly cgroups: readonly string[];
}

export interface EntryTools {
  /** An absolute path. */
  readonly nsenter: string;
  /** `undefined` when the agent is not root: then the command has the task's rights already. */
  readonly setpriv: string | undefined;
  /** Puts the command behind a filter of system calls, as the task is. */
  readonly bubblewrap: string;
  /** The file of the filter for a task with these capabilities. */
  readonly filterFile: (capabilities: readonly string[]) => string;
  readonly defences: Defences;
}

/**
 * The command sees what the task sees, as the same user with the same rights and variables, and ends
 * with the task at the latest. Whoever ends it before ends all that descends from the spawned process
 * (`descendantsOf`), as `nsenter` passes no signals on.
 * @throws DriverFailure when nothing of the task runs, a recoverable one when that is about to change
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
  // Its own, not one by name, which a link of the task could lead out of the sandbox.
  const cwd = `/proc/${inside.command}/cwd`;
  const directory = `--wd=${tools.defences.heldPaths ? cwd : readlinkSync(cwd)}`;
  const target = ['--target', String(inside.first)];
  const nsenter = [tools.nsenter, ...target, ...namespacesOf(inside.first), directory, '--'];
  // Without root its capabilities are those of its namespace alone, and it was given none.
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

/** Before that it is what leads to the task's own program, and has more rights. */
function hasBegun(pid: number, { bubblewrap }: EntryTools): boolean {
  try {
    return ![basename(bubblewrap), 'setpriv'].includes(basename(readlinkSync(`/proc/${pid}/exe`)));
  } catch {
    throw new DriverFailure('the task is not running', false);
  }
}

/**
 * Nobody can give a filter to another process, and `nsenter` loads none. So `bwrap` does, in there: what
 * it shows the command is all that is there already. The shell opens the file, which is outside.
 */
function behindFilter(
  nsenter: readonly string[],
  capabilities: readonly string[],
  { bubblewrap, filterFile }: EntryTools,
): readonly string[] {
  return [
    ...['/bin/sh', '-c', `exec ${filterDescriptor}<"$0" && exec "$@"`, filterFile(capabilities)],
    ...nsenter,
    ...[bubblewrap, '--die-with-parent', '--dev-bind', '/', '/'],
    ...['--seccomp', String(filterDescriptor), '--'],
  ];
}

/** A shell may know no more than ten. */
const filterDescriptor = 9;

/** A name is looked up in `/local` first, as the task's own command is, then in its PATH. */
function withLocal(first: number, [program = '', ...args]: readonly string[]): readonly string[] {
  if (program.includes('/')) return [program, ...args];
  const inside = `/local/${program}`;
  try {
    const found = lstatSync(`/proc/${first}/root${inside}`);
    // Where a link leads is the task's to find: from here it would lead elsewhere.
    const isProgram = found.isSymbolicLink() || (found.isFile() && (found.mode & 0o111) !== 0);
    return [isProgram ? inside : program, ...args];
  } catch {
    return [program, ...args];
  }
}

/** Those that are not the host's, and the task's root. A user namespace keeps who one is. */
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
      // A task of an earlier version has none; nor does it count what all processes of a machine have.
      isFiltered: filtersIn(status) > filtersIn(readFileSync('/proc/self/status', 'utf8')),
      variables: variablesOf(readFileSync(`/proc/${pid}/environ`, 'utf8')),
    };
  } catch {
    throw new DriverFailure('the task is not running', false);
  }
}

/** Their number; or, of a kernel that does not count them, whether there are any. */
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

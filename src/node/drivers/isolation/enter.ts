/** How a command gets into the sandbox of a task that runs, to run beside it. */
import { lstatSync, readFileSync } from 'node:fs';
import { findInside, namespaceOf } from '../../supervisor/inside.ts';
import type { TaskStatus } from '../../supervisor/protocol.ts';
import { DriverFailure } from '../driver.ts';
import { capabilitiesIn } from './capabilities.ts';
import { withRights } from './isolate.ts';

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
}

/**
 * The command sees what the task sees, as the same user with the same rights and variables, and ends
 * with the task at the latest. Whoever ends it before ends all that descends from the spawned process
 * (`descendantsOf`), as `nsenter` passes no signals on.
 * @throws DriverFailure when nothing of the task runs
 */
export function entryInto(
  status: TaskStatus,
  command: readonly string[],
  tools: EntryTools,
): Entry {
  const inside = status.exit === undefined ? findInside(status.pid) : undefined;
  if (inside === undefined) throw new DriverFailure('the task is not running', false);
  const known = readRights(inside.command);
  // Its own, not one by name, which a link of the task could lead out of the sandbox.
  const directory = `--wd=/proc/${inside.command}/cwd`;
  const target = ['--target', String(inside.first)];
  const entered = [tools.nsenter, ...target, ...namespacesOf(inside.first), directory];
  const cgroups = status.cgroups ?? [];
  const found = withLocal(inside.first, command);
  if (tools.setpriv === undefined) {
    return { command: [...entered, '--', ...found], variables: known.variables, cgroups };
  }
  const inner = withRights(tools.setpriv, found, known);
  return { command: [...entered, '--', ...inner.command], variables: inner.variables, cgroups };
}

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
      variables: variablesOf(readFileSync(`/proc/${pid}/environ`, 'utf8')),
    };
  } catch {
    throw new DriverFailure('the task is not running', false);
  }
}

const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\0')
      .filter((entry) => entry.indexOf('=') > 0)
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );

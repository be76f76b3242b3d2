/** What an isolated task sees of the machine's files, as options of `bwrap`. Pure. */
import { posix } from 'node:path';
import type { TaskDirectories } from '../../directories.ts';
import type { DriverVolume } from '../driver.ts';

/** Paths on the host, and where the task sees them, read-only. */
export type HostView = Readonly<Record<string, string>>;

const same = (paths: readonly string[]): HostView =>
  Object.fromEntries(paths.map((path) => [path, path]));

/**
 * The programs and libraries of the system, and of `/etc` what programs need to run. No passwords, no
 * keys, nothing of `/root`, `/home`, `/var`, `/run`.
 */
export const defaultHostView: HostView = same([
  '/bin',
  '/lib',
  '/lib32',
  '/lib64',
  '/sbin',
  '/usr',
  '/sys',
  ...[
    'alternatives',
    'ca-certificates',
    'ca-certificates.conf',
    'crypto-policies',
    'group',
    'hosts',
    'ld.so.cache',
    'ld.so.conf',
    'ld.so.conf.d',
    'localtime',
    'mime.types',
    'nsswitch.conf',
    'os-release',
    'passwd',
    'pki',
    'protocols',
    'resolv.conf',
    'services',
    'ssl',
    'timezone',
  ].map((name) => `/etc/${name}`),
]);

/** Where the task's own directories are in there. */
export const insideDirectories = {
  shared: '/alloc',
  local: '/local',
  secrets: '/secrets',
  temporary: '/tmp',
} as const;

/**
 * In the order in which they are done. The root is read-only at the end, and so is all of the host;
 * what is absent on the host is left out.
 */
export function viewOptions(
  view: HostView,
  directories: TaskDirectories,
  kind: SandboxKind,
  volumes: readonly DriverVolume[] = [],
): readonly string[] {
  const { shared, local, secrets, temporary } = insideDirectories;
  return [
    ...hostOptions(view, kind),
    ...['--bind', directories.shared, shared],
    // Over the directory above, so that it can be neither written to nor moved away.
    ...(kind.writesLogs === true
      ? []
      : ['--ro-bind', directories.logs, posix.join(shared, 'logs')]),
    ...['--bind', directories.local, local],
    ...['--bind', directories.secrets, secrets],
    ...['--bind', posix.join(directories.root, 'tmp'), temporary],
    ...volumes.flatMap(({ source, destination, isReadOnly }) => [
      ...[isReadOnly ? '--ro-bind' : '--bind', source, destination],
    ]),
    ...['--remount-ro', '/'],
  ];
}

export interface SandboxKind {
  /** Root makes it. */
  readonly isRoot: boolean;
  readonly hasOwnProcesses: boolean;
  /** Where its logs are; no task does. */
  readonly writesLogs?: boolean;
}

/** The part that is the same for all tasks. */
export function hostOptions(
  view: HostView,
  { isRoot, hasOwnProcesses }: SandboxKind,
): readonly string[] {
  const mounts = Object.entries(view).toSorted(([, left], [, right]) => (left < right ? -1 : 1));
  return [
    ...parentsOf(mounts.map(([, inside]) => inside)).flatMap((path) => [
      ...['--perms', '0755', '--dir', path],
    ]),
    ...mounts.flatMap(([host, inside]) => ['--ro-bind-try', host, inside]),
    // Only who owns the namespace of the processes makes a new one.
    ...(hasOwnProcesses ? ['--proc', '/proc'] : ['--bind', '/proc', '/proc']),
    // Root owns these files, and who owns a file needs no capability to write it.
    ...kernelSettings.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(isRoot ? ['--dev', '/dev'] : deviceOptions),
  ];
}

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);
const streams = ['stdin', 'stdout', 'stderr'] as const;

/**
 * What `--dev` makes, but for terminals: for these `bwrap` puts a user namespace into another where it
 * is not root, and then no command could enter the sandbox later.
 */
const deviceOptions: readonly string[] = [
  ...['--perms', '0755', '--dir', '/dev'],
  ...devices.flatMap((path) => ['--dev-bind', path, path]),
  ...['--symlink', '/proc/self/fd', '/dev/fd'],
  ...streams.flatMap((name, fd) => ['--symlink', `/proc/self/fd/${fd}`, `/dev/${name}`]),
  ...['--tmpfs', '/dev/shm'],
];

const kernelSettings = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** Directories that have to be there first, outermost first: made by themselves they are private. */
function parentsOf(paths: readonly string[]): string[] {
  const parents = new Set<string>();
  for (const path of paths) {
    for (let at = posix.dirname(path); at !== '/'; at = posix.dirname(at)) parents.add(at);
  }
  const isInside = (parent: string): boolean =>
    paths.some((path) => path === parent || parent.startsWith(`${path}/`));
  return [...parents].filter((parent) => !isInside(parent)).sort();
}

interface Mount {
  readonly inside: string;
  readonly host: string;
  /** It is the task's and no part of the system. */
  readonly isOwn: boolean;
}

/** What a path of the task is in; `undefined` for what only the sandbox has. */
export function mountOf(
  view: HostView,
  directories: TaskDirectories | undefined,
  path: string,
  volumes: readonly DriverVolume[] = [],
): Mount | undefined {
  const { shared, local, secrets, temporary } = insideDirectories;
  const own =
    directories === undefined
      ? []
      : ([
          [shared, directories.shared],
          [local, directories.local],
          [secrets, directories.secrets],
          [temporary, posix.join(directories.root, 'tmp')],
          ...volumes.map(({ destination, source }) => [destination, source] as const),
        ] as const);
  const all = [
    ...Object.entries(view).map(([host, inside]) => ({ inside, host, isOwn: false })),
    ...own.map(([inside, host]) => ({ inside, host, isOwn: true })),
  ];
  // The deepest mount is the one that is seen.
  const [found] = all
    .filter(({ inside }) => inside === '/' || path === inside || path.startsWith(`${inside}/`))
    .toSorted((left, right) => right.inside.length - left.inside.length);
  return found;
}

/** Where the host has what the task sees under a path; `undefined` for what only it has. */
export function hostPath(
  view: HostView,
  directories: TaskDirectories | undefined,
  path: string,
  volumes: readonly DriverVolume[] = [],
): string | undefined {
  const found = mountOf(view, directories, path, volumes);
  return found && posix.join(found.host, path.slice(found.inside.length));
}

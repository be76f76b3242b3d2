/** The files that an isolated task sees, as options of `bwrap`. Pure. */
import { posix } from 'node:path';
import type { TaskDirectories } from '../../directories.ts';
import type { DriverVolume } from '../driver.ts';

/** Host paths and their places in the sandbox, read-only. */
export type HostView = Readonly<Record<string, string>>;

const same = (paths: readonly string[]): HostView =>
  Object.fromEntries(paths.map((path) => [path, path]));

/**
 * The programs and libraries of the system, and the files of `/etc` that programs need. No
 * passwords, no keys, nothing of `/root`, `/home`, `/var` and `/run`.
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

/** The places of the task's own directories in the sandbox. */
export const insideDirectories = {
  shared: '/alloc',
  local: '/local',
  secrets: '/secrets',
  temporary: '/tmp',
} as const;

/**
 * Options in the order of execution. The root and everything of the host is read-only in the end;
 * paths missing on the host are left out.
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
    '--bind',
    directories.shared,
    shared,
    // Mounted over the directory above, so that it can be neither written nor moved.
    ...(kind.writesLogs === true
      ? []
      : ['--ro-bind', directories.logs, posix.join(shared, 'logs')]),
    '--bind',
    directories.local,
    local,
    '--bind',
    directories.secrets,
    secrets,
    '--bind',
    posix.join(directories.root, 'tmp'),
    temporary,
    ...volumes.flatMap(({ source, destination, isReadOnly }) => [
      isReadOnly ? '--ro-bind' : '--bind',
      source,
      destination,
    ]),
    '--remount-ro',
    '/',
  ];
}

export interface SandboxKind {
  readonly isRoot: boolean;
  readonly hasOwnProcesses: boolean;
  /** Whether it may write its logs; no task may. */
  readonly writesLogs?: boolean;
}

/** The options that are the same for all tasks. */
export function hostOptions(
  view: HostView,
  { isRoot, hasOwnProcesses }: SandboxKind,
): readonly string[] {
  const mounts = Object.entries(view).toSorted(([, left], [, right]) => (left < right ? -1 : 1));
  return [
    ...parentsOf(mounts.map(([, inside]) => inside)).flatMap((path) => [
      '--perms',
      '0755',
      '--dir',
      path,
    ]),
    ...mounts.flatMap(([host, inside]) => ['--ro-bind-try', host, inside]),
    // A new `/proc` needs a new process namespace.
    ...(hasOwnProcesses ? ['--proc', '/proc'] : ['--bind', '/proc', '/proc']),
    // Root owns these files, and an owner needs no capability to write them.
    ...kernelSettings.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(isRoot ? ['--dev', '/dev'] : deviceOptions),
  ];
}

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);
const streams = ['stdin', 'stdout', 'stderr'] as const;

/**
 * The devices of `--dev`, except terminals: for terminals `bwrap` without root would nest a second
 * user namespace, and no command could enter the sandbox later.
 */
const deviceOptions: readonly string[] = [
  '--perms',
  '0755',
  '--dir',
  '/dev',
  ...devices.flatMap((path) => ['--dev-bind', path, path]),
  '--symlink',
  '/proc/self/fd',
  '/dev/fd',
  ...streams.flatMap((name, fd) => ['--symlink', `/proc/self/fd/${fd}`, `/dev/${name}`]),
  '--tmpfs',
  '/dev/shm',
];

const kernelSettings = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** The parent directories, outermost first: `bwrap` by itself would make them private. */
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
  /** It belongs to the task, not to the system. */
  readonly isOwn: boolean;
}

/** The mount of a path in the sandbox; `undefined` for paths that only the sandbox has. */
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
  // The deepest mount hides the others.
  const [found] = all
    .filter(({ inside }) => inside === '/' || path === inside || path.startsWith(`${inside}/`))
    .toSorted((left, right) => right.inside.length - left.inside.length);
  return found;
}

/** The host's path for a path of the task; `undefined` for paths that only the sandbox has. */
export function hostPath(
  view: HostView,
  directories: TaskDirectories | undefined,
  path: string,
  volumes: readonly DriverVolume[] = [],
): string | undefined {
  const found = mountOf(view, directories, path, volumes);
  return found && posix.join(found.host, path.slice(found.inside.length));
}

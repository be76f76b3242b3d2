/** The control groups of this machine and their mount points, of version 1, 2 or both. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const controllers = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'freezer'] as const;
export type Controller = (typeof controllers)[number];

export interface CgroupLayout {
  /** Version 1: the mount point of each controller; some may share one. */
  readonly separate: ReadonlyMap<Controller, string>;
  /** Version 2: the single tree and its controllers. */
  readonly unified:
    | { readonly directory: string; readonly controllers: ReadonlySet<Controller> }
    | undefined;
  /** Values for new `cpuset` groups of version 1, which begin without any. */
  readonly cpuset: { readonly cpus: string; readonly mems: string } | undefined;
}

export interface CgroupMounts {
  readonly separate: ReadonlyMap<Controller, string>;
  readonly unified: string | undefined;
}

export const noCgroups: CgroupLayout = {
  separate: new Map(),
  unified: undefined,
  cpuset: undefined,
};

/** Parses `/proc/self/mountinfo`. The first mount of each tree counts, if it is writable. */
export function parseCgroupMounts(text: string): CgroupMounts {
  const separate = new Map<Controller, string>();
  let unified: string | undefined;
  for (const line of text.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const [type, , superOptions = ''] = after.split(' ');
    const [, , , , mountPoint = '', options = ''] = before.split(' ');
    if (options.split(',').includes('ro')) continue;
    const directory = unescapePath(mountPoint);
    if (type === 'cgroup2') unified ??= directory;
    if (type !== 'cgroup') continue;
    const named = superOptions.split(',');
    for (const controller of controllers) {
      if (named.includes(controller) && !separate.has(controller)) {
        separate.set(controller, directory);
      }
    }
  }
  return { separate, unified };
}

/** Spaces and similar characters are octal in the kernel's tables. */
const unescapePath = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );

/** The mounted trees in which this process may make groups. */
export function readCgroupLayout(
  mounts: CgroupMounts = parseCgroupMounts(readText('/proc/self/mountinfo')),
): CgroupLayout {
  const separate = new Map(
    [...mounts.separate].filter(([, directory]) => isWritable(join(directory, 'cgroup.procs'))),
  );
  const { unified } = mounts;
  const cpuset = separate.get('cpuset');
  return {
    separate,
    unified:
      unified !== undefined && isWritable(join(unified, 'cgroup.procs'))
        ? { directory: unified, controllers: controllersIn(unified) }
        : undefined,
    cpuset: cpuset === undefined ? undefined : cpusetIn(cpuset),
  };
}

function controllersIn(directory: string): ReadonlySet<Controller> {
  const named = readText(join(directory, 'cgroup.controllers')).trim().split(/\s+/);
  return new Set(controllers.filter((controller) => named.includes(controller)));
}

const cpusetIn = (directory: string) => ({
  cpus: readText(join(directory, 'cpuset.cpus')).trim(),
  mems: readText(join(directory, 'cpuset.mems')).trim(),
});

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** `v1`, `v2`, `v1 and v2` or nothing, for people. */
export function describeLayout({ separate, unified }: CgroupLayout): string {
  const versions = [separate.size > 0 ? 'v1' : '', unified === undefined ? '' : 'v2'];
  return versions.filter(Boolean).join(' and ');
}

/** Whether a controller can be used, in either version. */
export const hasController = (layout: CgroupLayout, controller: Controller): boolean =>
  layout.separate.has(controller) || (layout.unified?.controllers.has(controller) ?? false);

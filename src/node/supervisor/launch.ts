import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { nodeCommand } from '../../base/executable.ts';
import type { SupervisorArguments } from './main.ts';
import { makePrivateDirectory, supervisorPaths } from './paths.ts';

/** From source it is a sibling `.ts`; from a bundle, `supervisor.js` beside the bundle. */
const sibling = import.meta.url.endsWith('.ts') ? './main.ts' : './supervisor.js';
const ownEntry = new URL(sibling, import.meta.url);

/** A young generation of one megabyte is enough for moving bytes, and nothing here needs a compiler beside the program. */
const runtimeArguments = [
  '--max-old-space-size=128',
  '--max-semi-space-size=1',
  '--v8-pool-size=0',
];

/** Variables of the agent's environment that the supervisor needs. It gets no others. */
const keptVariables = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ'];

/**
 * Starts a supervisor that outlives this process, and returns its pid at once; the supervisor takes
 * requests a moment later. Its output goes to `supervisor.log`.
 */
export function launchSupervisor(options: SupervisorArguments, entry = ownEntry): number {
  const paths = supervisorPaths(options.dataDirectory);
  makePrivateDirectory(paths.directory);
  const log = openSync(paths.log, 'a', 0o600);
  try {
    const [program, ...args] = nodeCommand(runtimeArguments, entry);
    const child = spawn(program, [...args, JSON.stringify(options)], {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/',
      env: keptEnvironment(),
    });
    child.on('error', () => {});
    child.unref();
    if (child.pid === undefined) throw new Error('the supervisor process could not be started');
    return child.pid;
  } finally {
    closeSync(log);
  }
}

/**
 * The allocator keeps a heap for all threads, which hardly allocate, instead of a heap for each. Pieces of 128 KiB and more go
 * back to the system once they are free: by default the allocator raises that bound to the largest piece of the start.
 */
function keptEnvironment(): Record<string, string> {
  const entries = keptVariables.map((name) => [name, process.env[name]] as const);
  const kept = Object.fromEntries(
    entries.filter((pair): pair is readonly [string, string] => pair[1] !== undefined),
  );
  return { ...kept, MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' };
}

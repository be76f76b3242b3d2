import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SupervisorArguments } from './main.ts';
import { makePrivateDirectory, supervisorPaths } from './paths.ts';

/** From source it is a sibling `.ts`; from a bundle, `supervisor.js` beside the bundle. */
const sibling = import.meta.url.endsWith('.ts') ? './main.ts' : './supervisor.js';
const ownEntry = new URL(sibling, import.meta.url);

/** A young generation of one megabyte is enough for moving bytes. */
const runtimeArguments = ['--max-old-space-size=128', '--max-semi-space-size=1'];

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
    const child = spawn(
      process.execPath,
      [...runtimeArguments, fileURLToPath(entry), JSON.stringify(options)],
      { detached: true, stdio: ['ignore', log, log], cwd: '/', env: keptEnvironment() },
    );
    child.on('error', () => {});
    child.unref();
    if (child.pid === undefined) throw new Error('the supervisor process could not be started');
    return child.pid;
  } finally {
    closeSync(log);
  }
}

function keptEnvironment(): Record<string, string> {
  const entries = keptVariables.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(
    entries.filter((pair): pair is readonly [string, string] => pair[1] !== undefined),
  );
}

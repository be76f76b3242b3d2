import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SupervisorPaths {
  readonly directory: string;
  readonly socket: string;
  readonly table: string;
  readonly log: string;
}

/** Not in limits: the kernel allows 108 bytes for a socket's path, with the end mark. */
const longestSocketPathBytes = 100;

/**
 * The paths of a data directory's supervisor. If they are too long for a socket, it is in the
 * system's temporary directory, under a name derived from the path.
 */
export function supervisorPaths(dataDirectory: string): SupervisorPaths {
  const directory = join(dataDirectory, 'supervisor');
  const near = join(directory, 'supervisor.sock');
  return {
    directory,
    socket: Buffer.byteLength(near) <= longestSocketPathBytes ? near : farSocket(directory),
    table: join(directory, 'tasks.json'),
    log: join(directory, 'supervisor.log'),
  };
}

function farSocket(directory: string): string {
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return join(tmpdir(), `roster-${process.getuid?.() ?? 0}-${name}`, 's.sock');
}

/** Makes a directory for this user alone. Throws when somebody else made it first. */
export function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stat = lstatSync(directory);
  if (!stat.isDirectory() || (process.getuid !== undefined && stat.uid !== process.getuid())) {
    throw new Error(`${directory} is not a directory of this user`);
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(directory, 0o700);
}

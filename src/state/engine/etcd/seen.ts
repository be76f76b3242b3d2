import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Position } from './position.ts';

/** How far this server has known which log. */
export interface SeenLog extends Position {
  /** When that was last known to be the end of the log, in Unix milliseconds. */
  readonly currentMs?: number | undefined;
}

/** The same, kept across restarts. */
export interface Seen {
  /** Resolves with `undefined` before anything was kept. */
  read(): Promise<SeenLog | undefined>;
  keep(seen: SeenLog): Promise<void>;
}

/** Keeps it in a file. A file that cannot be read ends the start: it may be all that tells two logs apart. */
export function seenFile(path: string): Seen {
  return {
    async read() {
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
      try {
        return JSON.parse(text) as SeenLog;
      } catch (error) {
        throw new Error(`${path} cannot be read`, { cause: error });
      }
    },
    async keep(seen) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, `${JSON.stringify(seen)}\n`, { mode: 0o600, flush: true });
      await rename(`${path}.new`, path);
    },
  };
}

/** A log of a task, over the connection of the page. */
import { live } from '../../../app/connection.svelte.ts';
import type { LogSource } from './log-follower.ts';

export interface LogOf {
  readonly allocation: string;
  readonly task: string;
  readonly type: 'stdout' | 'stderr';
  readonly maxFileBytes: number;
}

/** Not in limits: a line of this length stays in one file, so a file may end so much before it is full. */
const lineKeptBytes = 32 * 1024;

export function logSource({ allocation, task, type, maxFileBytes }: LogOf): LogSource {
  const prefix = `${task}.${type}.`;
  return {
    fullFileBytesMin: Math.max(0, maxFileBytes - lineKeptBytes),
    pieces: ({ origin, offset, follow, signal }) =>
      live().client.logs.pieces({ allocation, task, type, origin, offset, follow, signal }),
    async sizes(signal) {
      try {
        const { value } = await live().client.files.list({
          allocation,
          path: 'alloc/logs',
          signal,
        });
        const own = value.filter(({ Name }) => Name.startsWith(prefix));
        return new Map(own.map(({ Name, Size }) => [Number(Name.slice(prefix.length)), Size]));
      } catch (error) {
        signal.throwIfAborted();
        // Logs may be read with fewer rights than files.
        if (error instanceof Error && error.name === 'ApiError') return undefined;
        throw error;
      }
    },
  };
}

import type { Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { StreamHandler } from '../../model/node-stream/stream-connection.ts';
import { type LogChunk, readLog } from './log-reader.ts';

/** The part of an allocation's runner that its logs need. */
export interface LogSource {
  readonly directories: { readonly logs: string };
  taskState(task: string): { readonly State: string } | undefined;
  whenTaskDead(task: string): Promise<void>;
  taskNames(): readonly string[];
}

export interface LogsHandlerOptions {
  readonly timers: Timers;
  readonly allocation: (id: string) => LogSource | undefined;
}

interface LogParams {
  readonly allocId: string;
  readonly task: string;
  readonly type: 'stdout' | 'stderr';
  readonly follow: boolean;
  readonly plain: boolean;
  readonly origin: 'start' | 'end';
  readonly offset: number;
}

/**
 * Streams of the kind `logs`, with the parameters of facts/scheduler.md §8.4: `alloc_id`, `task`,
 * `type`, `follow`, `plain`, `origin`, `offset`. Plain streams are the bytes; others are lines of
 * JSON, `{File, Offset, Data, FileEvent}` with base64 data, and `{}` to say that nothing is new.
 */
export function logsHandler({ timers, allocation }: LogsHandlerOptions): StreamHandler {
  const followers = new Map<string, number>();
  return async (stream, given) => {
    const params = readParams(given);
    const { allocId, task, type, follow, origin, offset } = params;
    const source = findSource(allocation(allocId), allocId, task);
    const key = `${allocId}/${task}`;
    const count = followers.get(key) ?? 0;
    if (count >= limits.stream.logFollowersPerTaskMax) throw tooMany(task);
    followers.set(key, count + 1);
    try {
      const chunks = readLog({
        directory: source.directories.logs,
        task,
        type,
        origin,
        offset,
        follow,
        isOver: () => source.taskState(task)?.State === 'dead',
        whenOver: source.whenTaskDead(task),
        signal: stream.signal,
        timers,
      });
      for await (const chunk of chunks) await write(stream, chunk, params.plain);
    } finally {
      const left = (followers.get(key) ?? 1) - 1;
      if (left === 0) followers.delete(key);
      else followers.set(key, left);
    }
  };
}

async function write(
  stream: ByteStream,
  chunk: LogChunk | undefined,
  plain: boolean,
): Promise<void> {
  if (plain) return chunk && stream.write(chunk.data);
  const frame = chunk && {
    File: `alloc/logs/${chunk.file}`,
    Offset: chunk.offset,
    Data: Buffer.from(chunk.data).toString('base64'),
    ...(chunk.gap && { FileEvent: 'file deleted' }),
  };
  await stream.write(new TextEncoder().encode(`${JSON.stringify(frame ?? {})}\n`));
}

function findSource(source: LogSource | undefined, allocId: string, task: string): LogSource {
  if (source === undefined) {
    const message = `The allocation "${allocId}" is not on this node.`;
    throw new StreamFault({ status: 404, code: 'allocation-not-found', message });
  }
  if (source.taskState(task) === undefined) {
    const names = source.taskNames().join(', ');
    const message = `The allocation "${allocId}" has no task "${task}"; its tasks are: ${names}.`;
    throw new StreamFault({ status: 404, code: 'task-not-found', message });
  }
  return source;
}

function readParams(given: Readonly<Record<string, unknown>>): LogParams {
  const text = (name: string): string => {
    const value = given[name];
    if (typeof value === 'string' && value !== '') return value;
    throw invalid(name, 'is required');
  };
  const choice = <const T extends string>(name: string, words: readonly [T, ...T[]]): T => {
    const value = given[name] ?? words[0];
    const word = words.find((known) => known === value);
    if (word !== undefined) return word;
    throw invalid(name, `must be one of ${words.join(', ')}`);
  };
  const offset = given.offset ?? 0;
  if (!Number.isSafeInteger(offset) || (offset as number) < 0) {
    throw invalid('offset', 'must be an integer that is not negative');
  }
  return {
    allocId: text('alloc_id'),
    task: text('task'),
    type: choice('type', ['stdout', 'stderr']),
    follow: given.follow === true,
    plain: given.plain === true,
    origin: choice('origin', ['start', 'end']),
    offset: offset as number,
  };
}

const invalid = (name: string, fault: string): StreamFault =>
  new StreamFault({
    status: 400,
    code: 'invalid-query',
    message: `The query parameter "${name}" ${fault}.`,
  });

const tooMany = (task: string): StreamFault =>
  new StreamFault({
    status: 429,
    code: 'too-many-streams',
    message: `The logs of the task "${task}" have too many readers on this node.`,
  });

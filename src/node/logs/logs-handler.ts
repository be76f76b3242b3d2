import type { Timers } from '../../base/ports.ts';
import type { FileFrame } from '../../model/allocation/file-info.ts';
import { limits } from '../../model/limits.ts';
import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { StreamHandler } from '../../model/node-stream/stream-connection.ts';
import type { Defences } from '../defences.ts';
import { Counted, writeHead, writeText } from '../stream-answer.ts';
import { streamParams } from '../stream-params.ts';
import { type LogChunk, type LogQuery, readLog } from './log-reader.ts';

/** The part of an allocation's runner that its logs need. */
export interface LogSource {
  readonly directories: { readonly logs: string };
  taskState(task: string): { readonly State: string } | undefined;
  whenTaskDead(task: string): Promise<void>;
  taskNames(): readonly string[];
}

export interface LogsHandlerOptions {
  readonly defences?: Defences | undefined;
  readonly timers: Timers;
  readonly allocation: (id: string) => LogSource | undefined;
  /** Default: from the files of the task. */
  readonly read?: (
    query: LogQuery & { readonly allocId: string },
  ) => AsyncGenerator<LogChunk | undefined, void>;
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
 * Streams of the kind `logs`, with a head and with the parameters of
 * docs/guides/logs-and-files.md#over-http: `alloc_id`, `task`, `type`, `follow`, `plain`, `origin`,
 * `offset`. Plain streams are the bytes; others are lines of JSON, `{File, Offset, Data,
 * FileEvent}` with base64 data, and `{}` to say that nothing is new.
 */
export function logsHandler({
  timers,
  allocation,
  defences,
  read = readLog,
}: LogsHandlerOptions): StreamHandler {
  const followers = new Counted();
  return async (stream, given) => {
    const params = readParams(given);
    const { allocId, task, type, follow, origin, offset } = params;
    const source = findSource(allocation(allocId), allocId, task);
    const { logFollowersPerTaskMax } = limits.stream;
    const refused = () => tooMany(task);
    await followers.during(`${allocId}/${task}`, logFollowersPerTaskMax, refused, async () => {
      const chunks = read({
        allocId,
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
        defences,
      });
      await writeHead(stream);
      for await (const chunk of chunks) await write(stream, chunk, params.plain);
    });
  };
}

async function write(
  stream: ByteStream,
  chunk: LogChunk | undefined,
  plain: boolean,
): Promise<void> {
  if (plain) return chunk && stream.write(chunk.data);
  const frame: FileFrame | undefined = chunk && {
    File: `alloc/logs/${chunk.file}`,
    Offset: chunk.offset,
    Data: Buffer.from(chunk.data).toString('base64'),
    ...(chunk.gap && { FileEvent: 'file deleted' }),
  };
  await writeText(stream, `${JSON.stringify(frame ?? {})}\n`);
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
  const params = streamParams(given);
  return {
    allocId: params.text('alloc_id'),
    task: params.text('task'),
    type: params.choice('type', ['stdout', 'stderr']),
    follow: params.flag('follow'),
    plain: params.flag('plain'),
    origin: params.choice('origin', ['start', 'end']),
    offset: params.whole('offset'),
  };
}

const tooMany = (task: string): StreamFault =>
  new StreamFault({
    status: 429,
    code: 'too-many-streams',
    message: `The logs of the task "${task}" have too many readers on this node.`,
  });

import type { clientEndpoints } from '../contract/client.ts';
import { callsOf } from './calls.ts';
import { type FilePiece, piecesIn } from './frames.ts';
import { untilOver } from './repeat.ts';
import type { CallOptions, Requester } from './requester.ts';

export interface LogOptions extends CallOptions {
  /** Has to be complete. */
  readonly allocation: string;
  readonly task: string;
  readonly type?: 'stdout' | 'stderr' | undefined;
  /** Wait for more. */
  readonly follow?: boolean | undefined;
  /** The position that `offset` counts from. */
  readonly origin?: 'start' | 'end' | undefined;
  readonly offset?: number | undefined;
}

export type Logs = ReturnType<typeof logsOf>;

export function logsOf(requester: Requester, address: string) {
  const { stream } = callsOf<typeof clientEndpoints>(requester);
  const request = (options: LogOptions, plain: boolean) =>
    stream('GET /v1/client/fs/logs/:alloc_id', { alloc_id: options.allocation }, options, {
      task: options.task,
      type: options.type ?? 'stdout',
      follow: options.follow ?? false,
      plain,
      origin: options.origin,
      offset: options.offset || undefined,
    });
  return {
    /** The request begins with the first read. Leaving the loop ends it. */
    read: (options: LogOptions): AsyncIterable<Uint8Array> => request(options, true),
    /** The log in pieces, which tell of data lost by rotation. They go on after a lost connection. */
    pieces: (options: LogOptions): AsyncIterable<FilePiece> => {
      let last: FilePiece | undefined;
      return untilOver(requester.repeats, options.signal, async function* () {
        const begin = last === undefined ? {} : ({ origin: 'start', offset: 0 } as const);
        const pieces = piecesIn(request({ ...options, ...begin }, false), address);
        for await (const piece of last === undefined ? pieces : piecesAfter(last, pieces)) {
          last = piece;
          yield piece;
        }
      });
    },
  };
}

/** The pieces that follow `last` in a log from its start. */
async function* piecesAfter(last: FilePiece, pieces: AsyncIterable<FilePiece>) {
  let isFileGone: boolean | undefined;
  for await (const piece of pieces) {
    const isLater = numberOf(piece) > numberOf(last);
    isFileGone ??= isLater;
    const known = isLater ? 0 : Math.max(0, endOf(last) - piece.offset);
    const isKnown = numberOf(piece) < numberOf(last) || known >= piece.data.length;
    if (isKnown && !isLater) continue;
    const event = isFileGone ? 'file deleted' : piece.event;
    yield { ...piece, offset: piece.offset + known, data: piece.data.subarray(known), event };
    isFileGone = false;
  }
}

/** Of a rotated file. */
const numberOf = ({ file }: FilePiece): number => Number(file.slice(file.lastIndexOf('.') + 1));

const endOf = ({ offset, data }: FilePiece): number => offset + data.length;

import type { clientEndpoints } from '../contract/client.ts';
import { callsOf } from './calls.ts';
import { type FilePiece, piecesIn } from './frames.ts';
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
    /** The log in pieces, which tell of data lost by rotation. */
    pieces: (options: LogOptions): AsyncIterable<FilePiece> =>
      piecesIn(request(options, false), address),
  };
}

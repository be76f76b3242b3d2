import { type FilePiece, piecesIn } from './frames.ts';
import { type CallOptions, path, type Requester } from './requester.ts';

export interface LogOptions extends CallOptions {
  /** A whole id. */
  readonly allocation: string;
  readonly task: string;
  readonly type?: 'stdout' | 'stderr' | undefined;
  /** Stay and get what is written later. */
  readonly follow?: boolean | undefined;
  /** What `offset` counts bytes from. */
  readonly origin?: 'start' | 'end' | undefined;
  readonly offset?: number | undefined;
}

export interface Logs {
  /** The request is made when the first bytes are asked for. Leaving the loop ends it. */
  read(options: LogOptions): AsyncIterable<Uint8Array>;
  /** The same in pieces, which tell when rotation was faster than their reader. */
  pieces(options: LogOptions): AsyncIterable<FilePiece>;
}

export const logsOf = (requester: Requester, address: string): Logs => {
  const request = (options: LogOptions, plain: boolean) =>
    requester.stream(path`/v1/client/fs/logs/${options.allocation}`, options, {
      task: options.task,
      type: options.type ?? 'stdout',
      follow: options.follow ?? false,
      plain,
      origin: options.origin,
      offset: options.offset || undefined,
    });
  return {
    read: (options) => request(options, true),
    pieces: (options) => piecesIn(request(options, false), address),
  };
};

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
}

export const logsOf = (requester: Requester): Logs => ({
  read: (options) =>
    requester.stream(path`/v1/client/fs/logs/${options.allocation}`, options, {
      task: options.task,
      type: options.type ?? 'stdout',
      follow: options.follow ?? false,
      plain: true,
      origin: options.origin,
      offset: options.offset || undefined,
    }),
});

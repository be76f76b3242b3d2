import type { clientFileEndpoints } from '../contract/client-files.ts';
import { callsOf } from './calls.ts';
import { type FilePiece, piecesIn } from './frames.ts';
import { untilOver } from './repeat.ts';
import type { CallOptions, Requester } from './requester.ts';

/**
 * `allocation` has to be complete. `path` begins in the allocation's directory; by default it is
 * `/`.
 */
export interface FileOptions extends CallOptions {
  readonly allocation: string;
  readonly path?: string | undefined;
}

export interface FileListOptions extends FileOptions {
  readonly perPage?: number | undefined;
  /** `nextToken` of the page before. */
  readonly nextToken?: string | undefined;
}

export interface FileReadOptions extends FileOptions {
  /** Read only this part. */
  readonly part?: { readonly offset: number; readonly limit: number } | undefined;
}

export interface FileFollowOptions extends FileOptions {
  /** Wait for more until the file is deleted; by default true. */
  readonly follow?: boolean | undefined;
  /** The position that `offset` counts from. */
  readonly origin?: 'start' | 'end' | undefined;
  readonly offset?: number | undefined;
}

/** The files of allocations. Requests for bytes begin with the first read. */
export type Files = ReturnType<typeof filesOf>;

export function filesOf(requester: Requester, address: string) {
  const { read, stream } = callsOf<typeof clientFileEndpoints>(requester);
  const of = ({ allocation }: FileOptions) => ({ alloc_id: allocation });
  return {
    /** One page of a directory, sorted by name. */
    list: (options: FileListOptions) =>
      read('GET /v1/client/fs/ls/:alloc_id', of(options), options, {
        path: options.path,
        per_page: options.perPage,
        next_token: options.nextToken,
      }),
    stat: (options: FileOptions) =>
      read('GET /v1/client/fs/stat/:alloc_id', of(options), options, { path: options.path }),
    read: (options: FileReadOptions): AsyncIterable<Uint8Array> => {
      const { path, part } = options;
      if (part === undefined) {
        return stream('GET /v1/client/fs/cat/:alloc_id', of(options), options, { path });
      }
      const query = { path, ...part };
      return stream('GET /v1/client/fs/readat/:alloc_id', of(options), options, query);
    },
    /** Goes on after a lost connection. Leaving the loop ends the request. */
    follow: (options: FileFollowOptions): AsyncIterable<FilePiece> => {
      const { path, follow } = options;
      let { origin, offset } = options;
      return untilOver(requester.repeats, options.signal, async function* () {
        const query = { path, follow, origin, offset: offset || undefined };
        const bytes = stream('GET /v1/client/fs/stream/:alloc_id', of(options), options, query);
        for await (const piece of piecesIn(bytes, address)) {
          origin = 'start';
          offset = piece.offset + piece.data.length;
          yield piece;
        }
      });
    },
  };
}

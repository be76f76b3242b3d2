import type { FileInfo } from '../model/allocation/file-info.ts';
import { type FilePiece, piecesIn } from './frames.ts';
import { type Answer, type CallOptions, path, type Requester } from './requester.ts';

/** `allocation` is a whole id, `path` begins in its directory; it is `/` when it is absent. */
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
  /** Only a part of it: so many bytes from there on. */
  readonly part?: { readonly offset: number; readonly limit: number } | undefined;
}

export interface FileFollowOptions extends FileOptions {
  /** Stay and get what is written later, until the file is deleted. Default true. */
  readonly follow?: boolean | undefined;
  /** What `offset` counts bytes from. */
  readonly origin?: 'start' | 'end' | undefined;
  readonly offset?: number | undefined;
}

/** The files of allocations. Requests for bytes are made when the first ones are asked for. */
export interface Files {
  /** One page of a directory, by name. */
  list(options: FileListOptions): Promise<Answer<readonly FileInfo[]>>;
  stat(options: FileOptions): Promise<Answer<FileInfo>>;
  read(options: FileReadOptions): AsyncIterable<Uint8Array>;
  /** Leaving the loop ends it. */
  follow(options: FileFollowOptions): AsyncIterable<FilePiece>;
}

export const filesOf = (requester: Requester, address: string): Files => ({
  list: (options) =>
    requester.read(path`/v1/client/fs/ls/${options.allocation}`, options, {
      ...{ path: options.path, per_page: options.perPage, next_token: options.nextToken },
    }),
  stat: (options) =>
    requester.read(path`/v1/client/fs/stat/${options.allocation}`, options, { path: options.path }),
  read: (options) =>
    options.part === undefined
      ? requester.stream(path`/v1/client/fs/cat/${options.allocation}`, options, {
          path: options.path,
        })
      : requester.stream(path`/v1/client/fs/readat/${options.allocation}`, options, {
          ...{ path: options.path, ...options.part },
        }),
  follow: (options) => {
    const { allocation, follow, origin, offset } = options;
    const query = { path: options.path, follow, origin, offset: offset || undefined };
    const url = path`/v1/client/fs/stream/${allocation}`;
    return piecesIn(requester.stream(url, options, query), address);
  },
});

import { Flag, Text, Type, Whole } from '../schema.ts';

/** A file of an allocation. Source: docs/guides/logs-and-files.md#over-http. */
export interface FileInfo {
  readonly Name: string;
  readonly IsDir: boolean;
  /** Bytes. */
  readonly Size: number;
  /** `-rw-r--r--` */
  readonly FileMode: string;
  /** RFC 3339. */
  readonly ModTime: string;
  /** Of one file that is asked about, by its first bytes; directories have none. */
  readonly ContentType?: string;
}

export const FileInfoSchema = Type.Object({
  Name: Text(),
  IsDir: Flag(),
  Size: Whole(),
  FileMode: Text(),
  ModTime: Text(),
  ContentType: Type.Optional(Type.String()),
});

/** One piece of a file that is followed, or of a log. `{}` says that nothing is new. */
export interface FileFrame {
  /** Path in the allocation's directory. */
  readonly File?: string;
  /** Where in the file the data begins. */
  readonly Offset?: number;
  /** Base64. */
  readonly Data?: string;
  /**
   * `file truncated`: it goes on at its new begin; `file replaced`: another is at its path and
   * follows from its begin; `file deleted`: of a file, nothing comes any more; of a log, what
   * stood between this piece and the one before was rotated away before it could be read.
   */
  readonly FileEvent?: string;
}

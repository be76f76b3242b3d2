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
  /** Set when a caller asks for a single file, from its first bytes; directories have none. */
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

/** A piece of a followed file or log. `{}` means that nothing is new. */
export interface FileFrame {
  /** Path in the allocation's directory. */
  readonly File?: string;
  /** Where in the file the data begins. */
  readonly Offset?: number;
  /** Base64. */
  readonly Data?: string;
  /**
   * `file truncated`: the file is read from its new beginning. `file replaced`: another file has the path and
   * is read from its beginning. `file deleted`: the file ends here; in a log, rotation removed the text
   * between this piece and the previous one before it was read.
   */
  readonly FileEvent?: string;
}

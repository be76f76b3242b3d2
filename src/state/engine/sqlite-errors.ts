import {
  DataDirectoryFull,
  DataDirectoryInUse,
  DataDirectoryUnusable,
  Fenced,
  StateCorrupted,
  StateError,
  type StateErrorCode,
  StateFormatUnknown,
  StoreMoved,
  StoreUnfinished,
} from '../errors.ts';

/** SQLite's primary result codes, from sqlite.org/rescode.html. */
export const sqliteCodes = { busy: 5, corrupt: 11, full: 13, notDatabase: 26 };

/** SQLITE_IOERR_SHORT_READ: the file ends before a page that it should have. */
const shortRead = 522;

/** The primary result code of an error of `node:sqlite`, `undefined` for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** The `StateError` for an error of reading the file. */
export function readError(directory: string, file: string, error: unknown): Error {
  if (error instanceof StateError) return error;
  const code = sqliteCodeOf(error);
  if (code === sqliteCodes.full) return new DataDirectoryFull(directory, error);
  if ((error as { errcode?: unknown }).errcode === shortRead) {
    return new StateCorrupted(file, 'it is cut off', error);
  }
  const environment = code !== undefined && environmentCodes.has(code);
  if (environment || isSystemError(error)) return writeError(directory, error);
  return new StateCorrupted(file, messageOf(error), error);
}

/** The `StateError` for an error of writing. */
export function writeError(directory: string, error: unknown): Error {
  if (error instanceof StateError) return error;
  const code = sqliteCodeOf(error);
  const noSpace = (error as { code?: unknown } | undefined)?.code === 'ENOSPC';
  if (code === sqliteCodes.full || noSpace) return new DataDirectoryFull(directory, error);
  if (code === sqliteCodes.corrupt || code === sqliteCodes.notDatabase) {
    return new StateCorrupted(directory, messageOf(error), error);
  }
  return new DataDirectoryUnusable(directory, messageOf(error), error);
}

/** PERM, READONLY, IOERR, CANTOPEN, AUTH: faults of the file system, not of the content. */
const environmentCodes = new Set([3, 8, 10, 14, 23]);

function isSystemError(error: unknown): boolean {
  return typeof (error as { syscall?: unknown } | undefined)?.syscall === 'string';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error in a message of the worker: structured cloning keeps neither its class nor its fields. */
export interface Failure {
  readonly error: unknown;
  readonly code: StateErrorCode | undefined;
  readonly place: string | undefined;
}

export function failureOf(error: unknown): Failure {
  const code = error instanceof StateError ? error.code : undefined;
  return { error, code, place: error instanceof StateCorrupted ? error.place : undefined };
}

const classes = {
  'state-corrupted': StateCorrupted,
  'state-format-unknown': StateFormatUnknown,
  'data-directory-unusable': DataDirectoryUnusable,
  'data-directory-in-use': DataDirectoryInUse,
  'data-directory-full': DataDirectoryFull,
  fenced: Fenced,
  'store-moved': StoreMoved,
  'store-unfinished': StoreUnfinished,
} satisfies Partial<Record<StateErrorCode, unknown>>;

export function errorOf({ error, code, place }: Failure): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const found =
    code !== undefined && code in classes ? classes[code as keyof typeof classes] : null;
  if (found === null) return error;
  Object.setPrototypeOf(error, found.prototype);
  return Object.assign(error, { name: found.name, code }, place === undefined ? {} : { place });
}

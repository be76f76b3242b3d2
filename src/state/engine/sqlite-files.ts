import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import {
  DataDirectoryInUse,
  DataDirectoryUnusable,
  StateCorrupted,
  StateFormatUnknown,
} from '../errors.ts';
import type { StoreMark } from './offline.ts';
import { readError, sqliteCodeOf, sqliteCodes } from './sqlite-errors.ts';

/** The files in a data directory. */
export interface SqliteFiles {
  readonly directory: string;
  readonly database: string;
  readonly acknowledged: string;
  readonly pid: string;
}

export function filesIn(directory: string): SqliteFiles {
  return {
    directory,
    database: join(directory, 'state.db'),
    acknowledged: join(directory, 'state.acknowledged'),
    pid: join(directory, 'state.pid'),
  };
}

/** Where a repair writes the store that takes the place of the one in the directory. */
export const repairedBeside = (directory: string): string => `${directory}.repaired`;

/** Refuses a directory that a repair has moved away, but not yet replaced. @throws DataDirectoryUnusable */
export function requireUninterrupted(directory: string): void {
  if (existsSync(directory) || !existsSync(repairedBeside(directory))) return;
  const fault = 'its repair was interrupted: run "roster operator store repair" again';
  throw new DataDirectoryUnusable(directory, fault);
}

/** Version of the tables below. A newer program writes a greater number. */
const formatVersion = 1;
/** The same with a mark, so that a program that does not know marks refuses it. */
const markedVersion = 2;

export interface Format {
  readonly Format: number;
  readonly Mark?: StoreMark | undefined;
  /** Version of the program that wrote last. Earlier versions wrote none. */
  readonly Program?: string | undefined;
}

const schema = `
  CREATE TABLE meta (id INTEGER PRIMARY KEY, body TEXT NOT NULL, checksum INTEGER NOT NULL);
  CREATE TABLE log (
    sequence INTEGER PRIMARY KEY, first_index INTEGER NOT NULL, last_index INTEGER NOT NULL,
    checksum INTEGER NOT NULL, bytes BLOB NOT NULL
  );
  CREATE TABLE part (
    id INTEGER PRIMARY KEY, snapshot_index INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    checksum INTEGER NOT NULL, bytes BLOB NOT NULL
  );
`;
const tableNames = 'log,meta,part';

/** Rows of `meta`. */
export const metaFormat = 1;
export const metaSnapshot = 2;

export interface SqliteOptions {
  /** Made if it is absent. Holds `state.db` and the files beside it. */
  readonly directory: string;
  /** Size of the database, in pages of 4 KB, at which the disk counts as full. For tests. */
  readonly maxPages?: number;
  /** Length of the write-ahead log, in pages, at which SQLite copies it into the database within a write. */
  readonly checkpointPages?: number;
  /** Open a store with a mark as well, to move its state. */
  readonly readsMarked?: boolean;
  /** Version of this program, for the error of an earlier one that cannot read what it writes. */
  readonly program?: string;
}

/** Makes the directory and opens the database in it for this process alone. */
export function lockDatabase(files: SqliteFiles, options: SqliteOptions): DatabaseSync {
  const { checkpointPages = 16_000, maxPages } = options;
  makeDirectory(files);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(files.database, { timeout: 0 });
    // Exclusive mode from the first access on keeps the lock, and needs no file of shared memory.
    database.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${checkpointPages};
      BEGIN IMMEDIATE; COMMIT;
    `);
    if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${maxPages}`);
    writeFileSync(files.pid, `${process.pid}\n`, { mode: 0o600 });
    return database;
  } catch (error) {
    database?.close();
    if (sqliteCodeOf(error) === sqliteCodes.busy) {
      throw new DataDirectoryInUse(files.directory, pidIn(files.pid));
    }
    throw readError(files.directory, files.database, error);
  }
}

function makeDirectory({ directory, database }: SqliteFiles): void {
  requireUninterrupted(directory);
  try {
    makeDirectories(directory);
    if (!statSync(directory).isDirectory()) throw new Error('it is not a directory');
    // SQLite gives the files beside the database its mode. Never open and close an existing database
    // here: closing it drops the lock that this process may hold on it.
    if (!existsSync(database)) closeSync(openSync(database, 'wx', 0o600));
  } catch (error) {
    throw new DataDirectoryUnusable(directory, (error as Error).message, error);
  }
}

/** Without `recursive`, with which `mkdirSync` never returns where nothing can be made, as in /proc. */
function makeDirectories(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectories(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // The node of the same agent makes its own directory beside it at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The process that the file names. */
export function pidIn(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes the tables of a new database. Refuses a database without them, or of another format. Returns the
 * mark.
 */
export function createOrCheck(
  database: DatabaseSync,
  files: SqliteFiles,
  acknowledged: number,
): StoreMark | undefined {
  const found = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => name)
    .join();
  if (found === '' && acknowledged === 0) {
    create(database);
    return undefined;
  }
  if (found !== tableNames) {
    const fault = statSync(files.database).size === 0 ? 'it is empty' : 'it lacks its tables';
    throw new StateCorrupted(files.database, fault);
  }
  const format = readMeta(database, files, metaFormat) as Format | undefined;
  if (format?.Format === formatVersion) return undefined;
  if (format?.Format === markedVersion) return format.Mark;
  if (format === undefined) throw new StateCorrupted(files.database, 'it lacks its format');
  throw new StateFormatUnknown(
    `${files.database} has format ${format.Format}; this program knows format ${formatVersion}`,
  );
}

function create(database: DatabaseSync): void {
  database.exec(`BEGIN; ${schema}`);
  writeMark(database, undefined);
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE);');
}

export function writeMark(
  database: DatabaseSync,
  mark: StoreMark | undefined,
  program?: string,
): void {
  const version = mark === undefined ? formatVersion : markedVersion;
  const format: Format = { Format: version, Mark: mark, Program: program };
  writeMeta(database, metaFormat, format);
}

export function writeMeta(database: DatabaseSync, id: number, value: unknown): void {
  const body = JSON.stringify(value);
  const checksum = crc32(`${id}:${body}`);
  database.prepare('REPLACE INTO meta VALUES (?, ?, ?)').run(id, body, checksum);
}

export function readMeta(database: DatabaseSync, files: SqliteFiles, id: number): unknown {
  const row = database.prepare('SELECT body, checksum FROM meta WHERE id = ?').get(id);
  if (row === undefined) return undefined;
  const { body, checksum } = row;
  if (typeof body !== 'string' || crc32(`${id}:${body}`) !== checksum) {
    throw new StateCorrupted(`${files.database}, row ${id} of meta`, 'its checksum does not match');
  }
  return JSON.parse(body);
}

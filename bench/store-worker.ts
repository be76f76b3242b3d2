/**
 * Reads and decodes all that the embedded store in a directory has, and appends the same bytes to a bare SQLite database, in a
 * process of its own. Prints its measurements as a line of JSON.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parse } from '../src/state/codec.ts';
import { SqliteOffline } from '../src/state/engine/sqlite-offline.ts';

export interface StoreCosts {
  readonly bytes: number;
  /** Reading all that is stored, and decoding it. */
  readonly decodedMs: number;
  /** Appending it to an empty database, each part durable before the next. */
  readonly appendedMs: number;
}

async function measure(directory: string): Promise<StoreCosts> {
  const store = new SqliteOffline(directory);
  const path = join(directory, 'bare.db');
  const bare = new DatabaseSync(path);
  bare.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  bare.exec('CREATE TABLE log (sequence INTEGER PRIMARY KEY, bytes BLOB NOT NULL)');
  const insert = bare.prepare('INSERT INTO log VALUES (?, ?)');
  let parts = 0;
  let bytes = 0;
  let appendedMs = 0;
  const startMs = performance.now();
  for await (const loaded of store.load()) {
    const part = loaded.kind === 'batch' ? loaded.batch.bytes : loaded.bytes;
    parse(part, 'the store');
    bytes += part.byteLength;
    const appendMs = performance.now();
    insert.run(parts++, part);
    appendedMs += performance.now() - appendMs;
  }
  const decodedMs = performance.now() - startMs - appendedMs;
  bare.close();
  rmSync(path);
  await store.close();
  if (parts === 0) throw new Error(`${directory} has no state`);
  return { bytes, decodedMs, appendedMs };
}

process.stdout.write(`${JSON.stringify(await measure(process.argv[2]!))}\n`);

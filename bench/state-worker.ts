/**
 * A run of durable transactions in a process of its own, through the state layer, or with the same bytes
 * directly into `node:sqlite`. Prints its measurements as a line of JSON.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { realWorld } from '../src/base/ports-real.ts';
import { SqliteEngine } from '../src/state/engine/sqlite.ts';
import { openState } from '../src/state/state.ts';
import type { Stamps, TableDefinition } from '../src/state/types.ts';

export interface StateRun {
  readonly kind: 'ours' | 'baseline';
  readonly directory: string;
  readonly transactions: number;
  /** Transactions that wait to become durable at the same time. */
  readonly inFlight: number;
  /** Rows that the baseline writes between two commits. */
  readonly perCommit: number;
}

export interface StateMeasured {
  readonly elapsedMs: number;
}

interface Row extends Stamps {
  readonly ID: string;
  readonly Text: string;
}

const rows: TableDefinition<Row, never> = {
  name: 'rows',
  version: 1,
  key: (row) => [row.ID],
  indexes: {},
};

/** With its id and the names of its fields, a row has about 1 KB. */
const text = 'x'.repeat(990);
const idOf = (number: number): string => number.toString().padStart(10, '0');

async function ours({ directory, transactions, inFlight }: StateRun): Promise<number> {
  const engine = new SqliteEngine({ directory });
  const tables = [rows] as unknown as readonly TableDefinition[];
  const state = await openState({ tables, engine, timers: realWorld.timers });
  let next = 0;
  const writer = async () => {
    while (next < transactions) {
      const row = { ID: idOf(next++), Text: text };
      await state.write((transaction) => transaction.table(rows).put(row));
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, writer));
  const elapsedMs = performance.now() - startMs;
  if (state.read().table(rows).size !== transactions) throw new Error('rows are missing');
  await state.close();
  return elapsedMs;
}

function baseline({ directory, transactions, perCommit }: StateRun): number {
  const database = new DatabaseSync(join(directory, 'baseline.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec('CREATE TABLE log (sequence INTEGER PRIMARY KEY, bytes BLOB NOT NULL)');
  const insert = database.prepare('INSERT INTO log VALUES (?, ?)');
  const startMs = performance.now();
  for (let number = 0; number < transactions; ) {
    database.exec('BEGIN');
    const end = Math.min(number + perCommit, transactions);
    for (; number < end; number++) {
      insert.run(number, Buffer.from(JSON.stringify({ ID: idOf(number), Text: text })));
    }
    database.exec('COMMIT');
  }
  const elapsedMs = performance.now() - startMs;
  database.close();
  return elapsedMs;
}

const run = JSON.parse(process.argv[2]!) as StateRun;
const elapsedMs = run.kind === 'ours' ? await ours(run) : baseline(run);
process.stdout.write(`${JSON.stringify({ elapsedMs } satisfies StateMeasured)}\n`);

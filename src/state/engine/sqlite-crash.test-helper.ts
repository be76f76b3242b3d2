import { realWorld } from '../../base/ports-real.ts';
import { item, items, tables } from '../items.test-helper.ts';
import { openState } from '../state.ts';
import { SqliteEngine } from './sqlite.ts';

/** A program that writes until it is killed. It tells its parent the index of each acknowledged write. */
const engine = new SqliteEngine({ directory: process.argv[2]! });
const limits = { logBytes: 200_000, logPerSnapshot: 0 };
const state = await openState({ tables, engine, timers: realWorld.timers, limits });

async function writeOn(): Promise<never> {
  for (;;) {
    const { index } = await state.write((transaction) =>
      transaction.table(items).put(item(String(transaction.index).padStart(8, '0'))),
    );
    process.send!(index);
  }
}

await Promise.all(Array.from({ length: 50 }, writeOn));

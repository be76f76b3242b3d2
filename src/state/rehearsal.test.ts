import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { MemoryDisk } from './engine/memory.ts';
import {
  dump,
  expected,
  item,
  items,
  Oracle,
  runScript,
  ScriptFailure,
  script,
  tables,
} from './items.test-helper.ts';
import { memoryState } from './state.test-helper.ts';

const open = () => memoryState(tables, new SimulatedWorld(1), new MemoryDisk());

test('a rehearsal does what the state would do, and leaves no trace in it', async () => {
  const scripts = fc.array(script, { maxLength: 6 });
  const property = fc.asyncProperty(scripts, scripts, async (before, rehearsed) => {
    const state = await open();
    const oracle = new Oracle();
    for (const one of before.filter(({ throws }) => !throws)) {
      await state.write((transaction) => runScript(transaction, one));
      oracle.apply(one);
    }
    const was = expected(oracle);
    const rehearsal = state.rehearse();
    for (const one of rehearsed) {
      const run = () => rehearsal.run((transaction) => runScript(transaction, one));
      if (one.throws) expect(run).toThrow(ScriptFailure);
      else run();
      oracle.apply(one);
    }
    expect(dump(rehearsal.now())).toEqual(expected(oracle));
    expect([dump(rehearsal.before), dump(state.head()), dump(state.read())]).toEqual([
      was,
      was,
      was,
    ]);
  });
  await fc.assert(property, { numRuns: 40 });
});

test('a rehearsal tells its changes, and sees no later transaction of the state', async () => {
  const state = await open();
  await state.write((transaction) => transaction.table(items).put(item('a')));
  const rehearsal = state.rehearse();
  await state.write((transaction) => transaction.table(items).put(item('b')));
  const { index, changes } = rehearsal.run((transaction) => {
    transaction.table(items).delete('s', 'a');
    return transaction.table(items).has('s', 'b');
  });
  expect([index, changes]).toMatchObject([2, [{ table: 'items', before: { Name: 'a' } }]]);
  expect([...rehearsal.now().table(items).scan()]).toEqual([]);
  expect([...state.read().table(items).scan()].length).toBe(2);
});

import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { minuteMs, secondMs } from '../base/units.ts';
import { MemoryDisk, MemoryEngine } from '../state/engine/memory.ts';
import { openState } from '../state/state.ts';
import { allTables, namespaces } from '../state/tables.ts';
import { silentLog } from './context.ts';
import { ownHealth } from './health.ts';
import type { Server } from './server.ts';
import { watchStore } from './store-watch.ts';

async function setUp() {
  const world = new SimulatedWorld(1);
  const { timers, clock } = world;
  const disk = new MemoryDisk();
  const engine = new MemoryEngine(disk, timers);
  const report = () => {};
  const state = await openState({
    tables: allTables,
    engine,
    timers,
    clock,
    stopwatch: clock,
    report,
  });
  const told: [sentence: string, fields: object][] = [];
  const note = (fields: object, sentence: string) => void told.push([sentence, fields]);
  const stop = watchStore({ state, timers, log: { ...silentLog, error: note, warn: note } });
  const server = {
    context: { state, world },
    contact: () => ({ LastContact: 0, KnownLeader: true }),
    staleMaxMs: minuteMs,
  } as unknown as Server;
  const faults = async () => (await ownHealth(server)).faults;
  const write = () =>
    state.write((transaction) =>
      transaction.table(namespaces).put({ Name: 'a', Partition: 'default' } as never),
    );
  const advance = (ms: number) => world.advance(ms);
  return { advance, disk, state, told, stop, faults, write };
}

test('a store whose disk hangs is told in log, health and figures, and keeps its writes', async () => {
  const { advance, disk, state, told, stop, faults, write } = await setUp();
  await write();
  await advance(minuteMs);
  expect([told, await faults(), state.figures.oldestWriteMs]).toEqual([[], [], undefined]);
  disk.faults.appendDelayMs = 10 * minuteMs;
  let isDone = false;
  const written = write().then(() => {
    isDone = true;
  });
  await advance(20 * secondMs);
  expect([told, await faults()]).toEqual([[], []]);
  expect(state.figures.oldestWriteMs).toBe(20 * secondMs);
  await advance(20 * secondMs);
  const sentence = 'the store does not answer: writes wait, its disk may hang';
  expect(told).toEqual([[sentence, { waitedSeconds: 35 }]]);
  expect(await faults()).toEqual(['the store has not answered for 40s']);
  disk.faults.appendDelayMs = undefined;
  await advance(10 * minuteMs);
  await written;
  expect([isDone, await faults()]).toEqual([true, []]);
  expect(told.slice(1)).toEqual([['the store answers again', {}]]);
  stop();
});

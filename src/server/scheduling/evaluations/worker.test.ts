import { describe, expect, test } from 'vitest';
import type { JobInput } from '../../../model/job/job.ts';
import { limits } from '../../../model/limits.ts';
import { makeGroup, makeNode, makeTask } from '../../../scheduler/cluster.test-helper.ts';
import { MemoryDisk } from '../../../state/engine/memory.ts';
import { allocations, evaluations, inNamespace, nodes } from '../../../state/tables.ts';
import type { Change } from '../../../state/types.ts';
import { longMs, setUp } from './worker.test-helper.ts';

const rowsMax = limits.scheduler.planRowsMax;
/** More rows than three parts have. */
const count = 3 * rowsMax + 1;

/** Shorter than a decider may take. */
const shortMs = 1000;

const rowsOf = (changes: readonly Change[], table: { readonly name: string }): number =>
  changes.filter((change) => change.table === table.name).length;

const wide = (fields: JobInput = {}): JobInput => ({
  TaskGroups: [makeGroup({ Count: count, Tasks: [makeTask()] })],
  ...fields,
});

test('while writes follow each other, an evaluation is decided in more and shorter slices, with rests', async () => {
  const decided = async (isPaced: boolean) => {
    const server = await setUp({ stepMs: 0.3, lingers: true });
    await server.putNodes('n1', 'n2');
    await server.simulated.advance(longMs);
    const writeOn = (): void => {
      if (server.all.evaluations().some(({ Status }) => Status === 'complete')) return;
      void server.write((transaction) => {
        transaction.table(nodes).put({ ...makeNode('paper', { Status: 'down' }), SecretHash: 'p' });
      });
      server.simulated.timers.after(1, writeOn);
    };
    if (isPaced) writeOn();
    await server.simulated.advance(limits.state.lingerPaceMs);
    const startMs = server.simulated.clock.nowMs();
    await server.register(wide());
    server.start();
    const isComplete = () => server.all.evaluations().every(({ Status }) => Status === 'complete');
    while (!isComplete()) await server.simulated.advance(1);
    const tookMs = server.simulated.clock.nowMs() - startMs;
    server.stop();
    return { slices: server.slices(), tookMs };
  };
  const alone = await decided(false);
  const paced = await decided(true);
  expect(paced.slices).toBeGreaterThan(1.5 * alone.slices);
  expect(alone.tookMs).toBeLessThan(10);
  // As long as a step at least.
  expect(paced.tookMs).toBeGreaterThan(0.3 * paced.slices);
});

describe.each([
  ['the main thread decides', false],
  ['a decider decides', true],
])('where %s', (_, isApart) => {
  test('a large plan is committed in parts, and others write in between', async () => {
    const server = await setUp({ isApart });
    await server.putNodes('n1', 'n2');
    await server.register(wide());
    server.start();
    let others = 0;
    const writeOn = (): void => {
      if (others++ === 1000) return;
      void server.write((transaction) => {
        transaction.table(nodes).put({ ...makeNode('paper', { Status: 'down' }), SecretHash: 'p' });
      });
      server.simulated.timers.soon(writeOn);
    };
    writeOn();
    await server.simulated.advance(longMs);

    const parts = server.ran.filter((changes) => rowsOf(changes, allocations) > 0);
    expect(parts.map((changes) => rowsOf(changes, allocations))).toEqual([
      rowsMax,
      rowsMax,
      rowsMax,
      1,
    ]);
    const positions = parts.map((part) => server.ran.indexOf(part));
    for (const [part, position] of positions.entries()) {
      // Only the last part has the evaluation's outcome. Between two parts, other writes get their
      // turn.
      expect(rowsOf(server.ran[position]!, evaluations)).toBe(
        part === positions.length - 1 ? 1 : 0,
      );
      if (part > 0) expect(position - positions[part - 1]!).toBeGreaterThan(1);
    }
    expect(server.all.evaluations().map(({ Status }) => Status)).toEqual(['complete']);
    expect(server.warnings).toEqual([]);
  });

  test('the worker waits while the garbage collector marks, in the middle of a plan', async () => {
    const server = await setUp({ isApart });
    const { collector } = server;
    await server.putNodes('n1');
    await server.register(wide());
    server.state.onRan((changes) => {
      collector.marks = rowsOf(changes, allocations) > 0;
    });
    server.start();
    await server.simulated.advance(longMs);
    expect(server.all.allocations()).toHaveLength(rowsMax);
    collector.marks = false;
    for (const run of collector.waiting.splice(0)) run();
    await server.simulated.advance(longMs);
    expect(server.all.allocations()).toHaveLength(2 * rowsMax);
  });

  test('a plan that is all or nothing is one part', async () => {
    const server = await setUp({ isApart });
    await server.putNodes('n1');
    await server.register(wide({ AllAtOnce: true }));
    server.start();
    await server.simulated.advance(longMs);
    const parts = server.ran.filter((changes) => rowsOf(changes, allocations) > 0);
    expect(parts.map((changes) => rowsOf(changes, allocations))).toEqual([count]);
  });

  test('after a refusal between two parts, the rest is decided again', async () => {
    const server = await setUp({ isApart });
    await server.putNodes('n1', 'n2');
    await server.register(wide());
    let closed: string | undefined;
    server.state.onRan((changes) => {
      const placed = changes.find(({ table }) => table === allocations.name);
      if (placed === undefined || closed !== undefined) return;
      // Nothing more may be placed on the node of the first part.
      closed = (placed.after as unknown as { NodeID: string }).NodeID;
      const id = closed;
      server.simulated.timers.soon(() => {
        void server.write((transaction) => {
          const table = transaction.table(nodes);
          table.put({ ...table.get(id)!, SchedulingEligibility: 'ineligible' });
        });
      });
    });
    server.start();
    await server.simulated.advance(longMs);

    expect(server.warnings).toEqual(['plan did not fit any more']);
    const placed = server.all.allocations();
    expect(placed).toHaveLength(count);
    expect(new Set(placed.map(({ Name }) => Name)).size).toBe(count);
    const [part] = server.ran.filter((changes) => rowsOf(changes, allocations) > 0);
    const isThere = (row: unknown) => (row as { NodeID: string }).NodeID === closed;
    const before = part!.filter(({ table, after }) => table === allocations.name && isThere(after));
    expect(placed.filter(isThere)).toHaveLength(before.length);
    expect(server.all.evaluations().map(({ Status }) => Status)).toEqual(['complete']);
  });

  test('after a crash between two parts, the next server goes on from there', async () => {
    const disk = new MemoryDisk();
    const first = await setUp({ disk, isApart });
    await first.putNodes('n1', 'n2');
    await first.register(wide());
    // After a pause no part waits for another one.
    await first.simulated.advance(longMs);
    let parts = 0;
    first.state.onRan((changes) => {
      // The second part runs, and never becomes durable.
      if (rowsOf(changes, allocations) > 0 && ++parts === 2) {
        disk.faults.failAppend = () => new Error('the power is out');
      }
    });
    first.start();
    await first.simulated.advance(longMs);
    expect(first.worker.figures.decidedApart > 0).toBe(isApart);
    first.stop();
    disk.crash('lost');
    disk.faults.failAppend = undefined;

    const second = await setUp({ disk, isApart, seed: 2 });
    expect(second.all.allocations()).toHaveLength(rowsMax);
    expect(second.all.evaluations().map(({ Status }) => Status)).toEqual(['pending']);
    second.start();
    await second.simulated.advance(longMs);
    const placed = second.all.allocations();
    expect(new Set(placed.map(({ Name }) => Name)).size).toBe(count);
    expect(placed).toHaveLength(count);
    expect(second.all.evaluations().map(({ Status }) => Status)).toEqual(['complete']);
  });

  test("successive evaluations see each other's placements, whatever is written meanwhile", async () => {
    const server = await setUp({ isApart });
    await server.write((transaction) => {
      const node = { SecretHash: 'n1', cpu: 1000, memory: 1e6, disk: 1e6 };
      transaction.table(nodes).put(makeNode('n1', node));
    });
    const group = makeGroup({ Tasks: [makeTask({ Resources: { CPU: 300 } })] });
    for (const ID of ['a', 'b', 'c', 'd', 'e']) {
      await server.register({ ID, TaskGroups: [group] });
    }
    server.start();
    await server.simulated.advance(longMs);
    expect(server.warnings).toEqual([]);
    expect(server.all.allocations()).toHaveLength(3);

    // An allocation that has ended makes room, and the next evaluation sees it.
    await server.write((transaction) => {
      const table = transaction.table(allocations);
      const [ended] = [...table.scan()];
      table.put({ ...ended!, ClientStatus: 'complete', DesiredStatus: 'stop' });
    });
    await server.register({ ID: 'f', TaskGroups: [group] });
    await server.simulated.advance(longMs);
    expect(server.warnings).toEqual([]);
    const here = server.state
      .read()
      .table(allocations)
      .by('occupant')
      .scan({ prefix: ['n1'] });
    expect([...here]).toHaveLength(3);
    const open = server.state.read().table(evaluations).by('open');
    expect([...open.scan({ prefix: inNamespace('default') })].length).toBe(2);
  });
});

/** A server whose decider is ready. */
async function apart() {
  const server = await setUp({ isApart: true });
  await server.putNodes('n1', 'n2');
  server.start();
  const [decider] = server.deciders.running;
  return { ...server, decider: decider! };
}

test('a decider decides as soon as it follows, and others write while it does', async () => {
  const server = await apart();
  server.decider.hold();
  await server.register({ ID: 'a', TaskGroups: [makeGroup({ Count: 2 })] });
  await server.simulated.advance(shortMs);
  await server.putNodes('n3');
  expect(server.all.allocations()).toEqual([]);
  server.decider.release();
  await server.simulated.advance(longMs);
  expect(server.all.allocations()).toHaveLength(2);
  expect(server.worker.figures.decidedApart).toBe(1);
});

test('a plan of a decider is checked on the state in which it is committed', async () => {
  const server = await apart();
  server.decider.hold();
  await server.register({ ID: 'a', TaskGroups: [makeGroup({ Count: 2 })] });
  await server.simulated.advance(shortMs);
  await server.write((transaction) => {
    const table = transaction.table(nodes);
    for (const node of table.scan()) table.put({ ...node, SchedulingEligibility: 'ineligible' });
  });
  server.decider.release();
  await server.simulated.advance(longMs);
  expect(server.all.allocations()).toEqual([]);
  expect(server.warnings).toEqual(['plan did not fit any more']);
  expect(server.worker.figures.decidedApart).toBe(2);
  expect(server.all.evaluations().map(({ Status }) => Status)).toContain('blocked');
});

test('while a decider is gone the main thread decides, also what the decider was asked', async () => {
  const server = await apart();
  server.decider.hold();
  await server.register({ ID: 'a' });
  await server.simulated.advance(0);
  server.decider.kill();
  await server.simulated.advance(0);
  await server.simulated.advance(0);
  expect(server.all.allocations()).toHaveLength(1);
  expect(server.worker.figures.decidedApart).toBe(0);
  await server.simulated.advance(longMs);
  expect(server.deciders.running.size).toBe(1);
  await server.register({ ID: 'b' });
  await server.simulated.advance(longMs);
  expect(server.all.allocations()).toHaveLength(2);
  expect(server.worker.figures.decidedApart).toBe(1);
});

test('a decider that does not answer is replaced, and the main thread decides meanwhile', async () => {
  const server = await apart();
  server.decider.hold();
  await server.register({ ID: 'a' });
  await server.simulated.advance(longMs);
  expect(server.all.allocations()).toHaveLength(1);
  expect(server.worker.figures.decidedApart).toBe(0);
  expect([...server.deciders.running]).not.toContain(server.decider);
  expect(server.deciders.running.size).toBe(1);
});

test('a decider that does not answer and cannot be ended is asked nothing more', async () => {
  const server = await apart();
  server.decider.hold();
  server.decider.cling();
  await server.register({ ID: 'a' });
  await server.simulated.advance(longMs);
  expect(server.all.allocations()).toHaveLength(1);
  await server.register({ ID: 'b' });
  await server.simulated.advance(shortMs);
  expect(server.all.allocations()).toHaveLength(2);
  // A late answer of the old decider answers nothing.
  server.decider.release();
  await server.register({ ID: 'c' });
  await server.simulated.advance(shortMs);
  expect(server.all.allocations()).toHaveLength(3);
  expect(server.worker.figures.decidedApart).toBe(0);
  server.decider.kill();
  await server.simulated.advance(longMs);
  expect([...server.deciders.running]).toHaveLength(1);
});

test('a decider ends with its term, and leaves no timer', async () => {
  const server = await apart();
  server.decider.hold();
  await server.register({ ID: 'a' });
  await server.simulated.advance(0);
  server.stop();
  await server.simulated.advance(longMs);
  expect(server.deciders.running.size).toBe(0);
  expect(server.simulated.pendingTimers).toBe(0);
  expect(server.all.allocations()).toEqual([]);
});

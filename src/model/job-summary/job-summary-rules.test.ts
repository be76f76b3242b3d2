import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientStatuses } from '../allocation/allocation.ts';
import { summaryFor, withAllocation, withChild, withQueued } from './job-summary-rules.ts';

const job = {
  ID: 'web',
  Namespace: 'default',
  CreateIndex: 5,
  Stop: false,
  TaskGroups: [{ Name: 'g' }],
};
const zero = { Queued: 0, Complete: 0, Failed: 0, Running: 0, Starting: 0, Lost: 0, Unknown: 0 };
const allocation = (ClientStatus: (typeof clientStatuses)[number], JobCreateIndex = 5) => ({
  TaskGroup: 'g',
  ClientStatus,
  JobCreateIndex,
});

describe('the summary of a job', () => {
  test('starts with its groups at zero', () => {
    expect(summaryFor(job)).toMatchObject({
      JobID: 'web',
      Summary: { g: zero },
      Children: { Pending: 0, Running: 0, Dead: 0 },
    });
  });

  test('keeps removed groups of the same registration', () => {
    const previous = summaryFor({ ...job, TaskGroups: [{ Name: 'g' }, { Name: 'old' }] });
    expect(Object.keys(summaryFor(job, previous).Summary)).toEqual(['g', 'old']);
    expect(Object.keys(summaryFor({ ...job, CreateIndex: 6 }, previous).Summary)).toEqual(['g']);
  });

  test('a removed group and a stopped job have no queued allocations', () => {
    const queued = withQueued(summaryFor(job), { g: 2 }, job);
    const later = { ...job, TaskGroups: [{ Name: 'new' }] };
    for (const unwanting of [{ ...job, Stop: true }, later]) {
      expect(summaryFor(unwanting, queued).Summary.g).toEqual(zero);
      expect(withQueued(queued, { g: 3 }, unwanting).Summary.g).toEqual(zero);
    }
  });

  test('a placement lowers the queue by one', () => {
    const summary = withAllocation(
      withQueued(summaryFor(job), { g: 2 }, job),
      undefined,
      allocation('pending'),
    );
    expect(summary.Summary.g).toEqual({ ...zero, Queued: 1, Starting: 1 });
  });

  test.each([
    ['pending', 'running', { Running: 1 }],
    ['running', 'complete', { Complete: 1 }],
    ['running', 'unknown', { Unknown: 1 }],
    ['unknown', 'running', { Running: 1 }],
    ['running', 'lost', { Lost: 1 }],
    ['failed', 'running', { Failed: 1, Running: 1 }],
    ['complete', 'lost', { Complete: 1, Lost: 1 }],
  ] as const)('%s to %s', (before, after, counters) => {
    const placed = withAllocation(summaryFor(job), undefined, allocation(before));
    const moved = withAllocation(placed, allocation(before), allocation(after));
    expect(moved.Summary.g).toEqual({ ...zero, ...counters });
  });

  test('another registration or the same status changes no counter', () => {
    const summary = summaryFor(job);
    expect(withAllocation(summary, undefined, allocation('running', 4))).toBe(summary);
    expect(withAllocation(summary, allocation('running'), allocation('running'))).toBe(summary);
    expect(withQueued(summary, { g: 0 }, job)).toBe(summary);
    expect(withChild(summary, 'dead', 'dead')).toBe(summary);
  });

  test('a group may have any name', () => {
    const any = { ...job, TaskGroups: [{ Name: '__proto__' }, { Name: 'constructor' }] };
    const told = JSON.parse('{"__proto__":1,"constructor":2}');
    const summary = withQueued(summaryFor(any), told, any);
    expect(
      JSON.stringify(Object.entries(summary.Summary).map(([name, { Queued }]) => [name, Queued])),
    ).toBe('[["__proto__",1],["constructor",2]]');
  });

  test('children', () => {
    let summary = withChild(summaryFor(job), undefined, 'pending');
    summary = withChild(summary, 'pending', 'running');
    summary = withChild(summary, undefined, 'dead');
    expect(summary.Children).toEqual({ Pending: 0, Running: 1, Dead: 1 });
  });

  test('counting step by step equals a count from scratch, except counters that never fall', () => {
    const step = fc.record({ index: fc.nat(4), status: fc.constantFrom(...clientStatuses) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const rows = new Map<number, ReturnType<typeof allocation>>();
        let summary = summaryFor(job);
        for (const { index, status } of steps) {
          summary = withAllocation(summary, rows.get(index), allocation(status));
          rows.set(index, allocation(status));
        }
        const count = (status: string) =>
          [...rows.values()].filter((row) => row.ClientStatus === status).length;
        const group = summary.Summary.g!;
        expect([group.Starting, group.Running, group.Lost, group.Unknown]).toEqual(
          ['pending', 'running', 'lost', 'unknown'].map(count),
        );
        expect(group.Complete).toBeGreaterThanOrEqual(count('complete'));
        expect(group.Failed).toBeGreaterThanOrEqual(count('failed'));
      }),
    );
  });
});

import { closeSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../eventually.test-helper.ts';
import { FifoPool } from './fifo-pool.ts';
import { pipeLimits } from './limits.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'fifo-pool-'));
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

const pipes = (): number => readdirSync(directory, { recursive: true }).length - 1;

test('no pipe is made any more once a pool has settled', async () => {
  const pool = new FifoPool(directory);
  void pool.fill();
  await pool.settled();
  expect(pipes()).toBe(pipeLimits.batchSize);
});

test('a pool that makes no pipes has settled', async () => {
  await new FifoPool(directory).settled();
  expect(pipes()).toBe(0);
});

test('a pool that a burst has used up makes more pipes at rest, for the next one', async () => {
  const { batchSize, keptMax } = pipeLimits;
  const pool = new FifoPool(directory);
  await pool.fill();
  await burst(pool, batchSize / 2 + 1);
  await eventually(() => expect(pipes()).toBe(2 * batchSize));
  await burst(pool, keptMax);
  await burst(pool, keptMax);
  await eventually(() => expect(pipes()).toBe(keptMax));
  await pool.settled();
});

test('a pool that has settled makes no pipes at rest either', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const pool = new FifoPool(directory);
  await pool.fill();
  await burst(pool, 1);
  await pool.settled();
  vi.advanceTimersByTime(pipeLimits.restMs);
  await pool.settled();
  expect(pipes()).toBe(pipeLimits.batchSize - 1);
});

/** Opens this many pipes of the pool, and closes them again. */
async function burst(pool: FifoPool, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const pipe = await pool.take((fd) => fd);
    closeSync(pipe!.output);
    closeSync(pipe!.writeEnd);
  }
}

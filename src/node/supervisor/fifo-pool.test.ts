import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FifoPool } from './fifo-pool.ts';
import { pipeLimits } from './limits.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'fifo-pool-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

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

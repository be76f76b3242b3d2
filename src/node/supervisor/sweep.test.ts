/** The processes that belong to a task, and those that only look so, among real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FifoPool } from './fifo-pool.ts';
import { HeldOutputs } from './held-outputs.ts';
import { PipeReader } from './pipe-reader.ts';
import { fileId, readStat } from './proc.ts';
import { findLeftovers, type SweepTarget } from './sweep.ts';

let directory: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-sweep-'));
});

afterEach(() => {
  child?.kill('SIGKILL');
  child = undefined;
  rmSync(directory, { recursive: true });
});

/** A process with its own environment that prints to this file. */
function sleeper(output: number | 'ignore'): { readonly pid: number; readonly startTime: string } {
  const stdio = ['ignore', output, 'ignore'] as const;
  child = spawn('/bin/sleep', ['600'], { detached: true, env: {}, stdio: [...stdio] });
  const { pid, startTime } = readStat(child.pid!)!;
  return { pid, startTime };
}

const target = (known: Partial<SweepTarget>): SweepTarget => ({
  allocId: 'a',
  taskName: 'web',
  pid: 0,
  startTime: '',
  ...known,
});
const found = (known: Partial<SweepTarget>) => findLeftovers([target(known)]).map(({ pid }) => pid);

test('a process of the group is found, but not a later process with the task’s pid', () => {
  const { pid, startTime } = sleeper('ignore');
  expect(found({ pid, startTime })).toEqual([pid]);
  expect(found({ pid, startTime: String(Number(startTime) - 1) })).toEqual([]);
});

test('a process that prints to the output of a task is found, even if the output is no longer read', async () => {
  const { output, writeEnd } = await pipe();
  const outputs = new HeldOutputs([writeEnd]);
  const { pid } = sleeper(writeEnd);
  closeSync(writeEnd);
  expect(found({ outputs: outputs.ids })).toEqual([pid]);
  output.destroy();
  expect(found({ outputs: outputs.ids })).toEqual([pid]);
  outputs.release();
});

test('no other file is taken for the output of an ended task', async () => {
  const { output, writeEnd } = await pipe();
  const outputs = new HeldOutputs([writeEnd]);
  expect(outputs.ids).toEqual([fileId(fstatSync(writeEnd))]);
  const closed = new Promise((resolve) => output.on('close', resolve));
  output.resume();
  closeSync(writeEnd);
  await closed;
  // The next files get the free numbers.
  const files = Array.from({ length: 64 }, (_, at) => openSync(join(directory, `${at}`), 'w'));
  expect(outputs.ids).not.toEqual([]);
  expect(files.map((fd) => fileId(fstatSync(fd)))).not.toContain(outputs.ids[0]);
  for (const fd of files) closeSync(fd);
  outputs.release();
});

async function pipe() {
  const pool = new FifoPool(directory);
  await pool.fill();
  return (await pool.take((fd) => new PipeReader(fd)))!;
}

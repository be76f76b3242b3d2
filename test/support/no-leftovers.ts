/**
 * Gives every test file a temporary directory, and fails the file if a process or mount of it is
 * left at its end. vitest runs this first, so its `afterAll` is the last of the file.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { findLeftovers, type Leftovers, type Mark } from './leftovers.ts';

/** The test that proves this can fail sets a short time. */
const patienceMs = Number(process.env.LEFTOVERS_PATIENCE_MS ?? 10_000);
const pauseMs = 20;

// A process may run several files in succession, and their directories are not nested.
process.env.TESTS_TMPDIR ??= realpathSync(tmpdir());
const directory = mkdtempSync(join(process.env.TESTS_TMPDIR, 'rt-'));
// The permissions of the system's own: tasks of other users have files below.
chmodSync(directory, 0o1777);
process.env.TMPDIR = directory;

afterAll(async () => {
  const mark = { directory, pid: process.pid };
  const { pids, mounts, lines } = await whatStays(mark);
  for (const pid of pids) end(pid);
  if (mounts.length > 0) spawnSync('umount', ['-l', ...mounts]);
  // Never through a mount, which may show foreign files.
  if (findLeftovers(mark).mounts.length === 0) rmSync(directory, { recursive: true, force: true });
  if (lines.length === 0) return;
  throw new Error(`this file left behind:\n${lines.join('\n')}`);
}, patienceMs + 20_000);

/** Processes that are ending get a while to end. */
async function whatStays(mark: Mark): Promise<Leftovers> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    // Looks once more after the time: this process may have stood still during a look.
    const isLast = performance.now() > endMs;
    const found = findLeftovers(mark);
    if (isLast || found.lines.length === 0) return found;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

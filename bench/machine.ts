import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { arch, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from './agent.ts';

/** The machine and programs that the figures depend on. */
export async function describeMachine(): Promise<readonly string[]> {
  const processors = cpus();
  const syncs = await syncsPerSecond();
  return [
    `Processor: ${processors[0]?.model.trim() ?? 'unknown'}, ${processors.length} cores`,
    `Memory: ${(totalmem() / 1024 ** 3).toFixed(1)} GB`,
    `System: ${type()} ${release()} ${arch()}`,
    `Disk: ${Math.round(syncs)} writes of 4 KB a second, each with \`fdatasync\``,
    `Node: ${process.version}`,
    `Load average when the measurements began: ${loadavg()[0]!.toFixed(1)}`,
  ];
}

/** Durable writes per second. A high number shows that the disk reports a flush without doing it. */
async function syncsPerSecond(): Promise<number> {
  const folder = temporaryFolder();
  const file = openSync(join(folder.path, 'syncs'), 'w');
  const block = Buffer.alloc(4096, 1);
  const count = 500;
  const startMs = performance.now();
  for (let number = 0; number < count; number++) {
    writeSync(file, block);
    fdatasyncSync(file);
  }
  const elapsedMs = performance.now() - startMs;
  closeSync(file);
  await folder.remove();
  return (count / elapsedMs) * 1000;
}

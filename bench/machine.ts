import { arch, cpus, loadavg, release, totalmem, type } from 'node:os';
import { syncsPerSecond } from './disk.ts';

/** The machine and programs that the figures depend on. */
export async function describeMachine(): Promise<readonly string[]> {
  const processors = cpus();
  // A high number shows that the disk reports a flush without doing it.
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

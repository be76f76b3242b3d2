import { instantFromMs } from '../../base/instant.ts';
import { delay, type World } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { NodeUsage } from '../../model/node/node-usage.ts';
import { coreUsage, readCores, readDisk, readMemory, readUptimeSeconds } from './machine.ts';

export interface MachineStatisticsOptions {
  readonly world: Pick<World, 'clock' | 'timers'>;
  readonly dataDirectory: string;
  readonly coreMhz: number;
}

/** The resources that the machine uses, measured over a short time for which the answer waits. */
export async function machineUsage(options: MachineStatisticsOptions): Promise<NodeUsage> {
  const { world, dataDirectory, coreMhz } = options;
  const before = await readCores();
  await delay(world.timers, limits.statistics.sampleMs);
  const [after, Memory, disk, Uptime] = await Promise.all([
    readCores(),
    readMemory(),
    readDisk(dataDirectory),
    readUptimeSeconds(),
  ]);
  const CPU = coreUsage(before, after);
  return {
    CPU,
    CPUTicksConsumed: CPU.reduce((sum, { Total }) => sum + (Total / 100) * coreMhz, 0),
    Memory,
    AllocDirStats: disk,
    DiskStats: [disk],
    DeviceStats: [],
    Timestamp: instantFromMs(world.clock.nowMs()),
    Uptime,
  };
}

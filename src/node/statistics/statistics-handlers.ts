import type { StreamHandler } from '../../model/node-stream/stream-connection.ts';
import { allocationNotHere, writeHead, writeText } from '../stream-answer.ts';
import { streamParams } from '../stream-params.ts';
import type { AllocationStatistics, UsageSource } from './allocation-statistics.ts';
import { type ChecksOf, countersOf } from './counters.ts';
import { type MachineStatisticsOptions, machineUsage } from './machine-statistics.ts';

/** Streams of the kind `allocation-usage`: `alloc_id`. After the head comes JSON. */
export const allocationUsageHandler =
  (
    statistics: AllocationStatistics,
    find: (id: string) => UsageSource | undefined,
  ): StreamHandler =>
  async (stream, given) => {
    const id = streamParams(given).text('alloc_id');
    const source = find(id);
    if (source === undefined) throw allocationNotHere(id);
    const usage = await statistics.of(source);
    await writeHead(stream);
    await writeText(stream, JSON.stringify(usage));
  };

/** Streams of the kind `node-usage`. After the head comes JSON. */
export const nodeUsageHandler =
  (options: MachineStatisticsOptions): StreamHandler =>
  async (stream) => {
    const usage = await machineUsage(options);
    await writeHead(stream);
    await writeText(stream, JSON.stringify(usage));
  };

/** Streams of the kind `counters`. After the head comes JSON. */
export const countersHandler =
  (
    dataDirectory: string,
    allocations: () => readonly UsageSource[],
    checksOf: ChecksOf,
  ): StreamHandler =>
  async (stream) => {
    const counters = await countersOf(dataDirectory, allocations(), checksOf);
    await writeHead(stream);
    await writeText(stream, JSON.stringify(counters));
  };

import type { World } from '../base/ports.ts';
import type { LogLines } from '../model/monitor/log-lines.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import type { StreamHandler } from '../model/node-stream/stream-connection.ts';
import { filesHandler } from './allocation-files/files-handler.ts';
import type { Allocations } from './allocations.ts';
import { collectHandler } from './collect-handler.ts';
import { restartHandler, signalHandler } from './command-handlers.ts';
import type { Defences } from './defences.ts';
import {
  monitorHandler,
  profileHandler,
  type ReloadAgent,
  reloadHandler,
} from './diagnosis-handlers.ts';
import { snapshotHandler } from './disks/snapshot-handler.ts';
import { execHandler } from './exec/exec-handler.ts';
import type { NodeServices } from './hooks/services/node-services.ts';
import { logsHandler } from './logs/logs-handler.ts';
import { AllocationStatistics } from './statistics/allocation-statistics.ts';
import {
  allocationUsageHandler,
  countersHandler,
  nodeUsageHandler,
} from './statistics/statistics-handlers.ts';

export interface StreamHandlerOptions {
  readonly world: World;
  readonly dataDirectory: string;
  readonly node: NodeRegistration;
  readonly allocations: Allocations;
  readonly checks: Pick<NodeServices, 'checksHandler' | 'resultsOf'>;
  readonly isExecDisabled: () => boolean;
  readonly defences?: Defences | undefined;
  /** The log of the agent; absent where nobody reads it. */
  readonly logLines?: LogLines | undefined;
  /** Absent: the agent has no configuration. */
  readonly reload?: ReloadAgent | undefined;
}

/** All that servers may ask this node over its stream, by the kind of stream. */
export function streamHandlers(options: StreamHandlerOptions): ReadonlyMap<string, StreamHandler> {
  const { world, dataDirectory, node, allocations, checks, isExecDisabled, defences } = options;
  const { logLines, reload } = options;
  const { timers } = world;
  const allocation = (id: string) => allocations.get(id);
  const { CpuShares, TotalCpuCores } = node.NodeResources.Cpu;
  const coreMhz = CpuShares / Math.max(1, TotalCpuCores);
  const statistics = new AllocationStatistics(world, coreMhz);
  return new Map<string, StreamHandler>([
    ['snapshot', snapshotHandler(allocation, defences)],
    ['exec', execHandler({ allocation, isDisabled: isExecDisabled })],
    ['logs', logsHandler({ timers, allocation, defences })],
    ['restart', restartHandler(allocation)],
    ['signal', signalHandler(allocation)],
    ['checks', checks.checksHandler],
    ['files', filesHandler({ timers, defences, root: (id) => allocation(id)?.directories.root })],
    ['allocation-usage', allocationUsageHandler(statistics, allocation)],
    ['node-usage', nodeUsageHandler({ world, dataDirectory, coreMhz })],
    ['counters', countersHandler(dataDirectory, () => allocations.all, checks.resultsOf)],
    ['collect', collectHandler(() => allocations)],
    ['profile', profileHandler(world)],
    ['reload', reloadHandler(reload)],
    ...(logLines === undefined ? [] : [['monitor', monitorHandler(logLines, world)] as const]),
  ]);
}

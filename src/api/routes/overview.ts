import { each, type Steps } from '../../base/steps.ts';
import { attentionEndpoints as contract } from '../../contract/attention.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import type { Node } from '../../model/node/node.ts';
import type { Overview } from '../../model/overview/overview.ts';
import { namedAccess, namespaceCapability } from '../../model/permission/permission.ts';
import { type OverviewCounts, overviewTables, sumsIn } from '../../server/overview/overview.ts';
import { capacityOf } from '../../server/tallies/nodes.ts';
import { columnsOf } from '../../server/tallies/tally.ts';
import { nodes } from '../../state/tables.ts';
import type { Stamps, TableDefinition } from '../../state/types.ts';
import type { Route } from '../route.ts';
import { serveSteps } from '../serve.ts';

/** Source: docs/behaviour/attention.md#the-overview. */
export const overviewRoutes = (counts: OverviewCounts): Route[] =>
  serveSteps(contract.overview, function* ({ snapshot, namespace, allows }): Steps<Overview> {
    for (const table of overviewTables) {
      snapshot.table(table as unknown as TableDefinition<Stamps>).lastIndex();
    }
    const { jobs, allocations, held } = yield* counts.read(snapshot);
    const isWanted = (one: string): boolean =>
      (namespace === everyNamespace || namespace === one) &&
      allows(namespaceCapability(one, 'read-job'));
    const byStatus: Record<string, number> = {};
    const capacity = { cpu: 0, memory: 0, disk: 0 };
    const allocated = { cpu: 0, memory: 0, disk: 0 };
    yield* each(snapshot.table(nodes).scan(), (node) => {
      if (!allows(namedAccess('node', 'read', node.Name))) return;
      const word = wordOf(node);
      byStatus[word] = (byStatus[word] ?? 0) + 1;
      if (node.Status === 'down') return;
      add(capacity, capacityOf(node));
      add(allocated, held.of(node.ID));
    });
    return {
      Jobs: sumsIn(jobs.counts, columnsOf(jobs.columns), isWanted),
      Allocations: sumsIn(allocations.counts, allocations.statuses, isWanted),
      Nodes: byStatus,
      Capacity: shown(capacity),
      Allocated: shown(allocated),
    };
  });

interface Amounts {
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
}

function add(sum: { cpu: number; memory: number; disk: number }, more: Amounts): void {
  sum.cpu += more.cpu;
  sum.memory += more.memory;
  sum.disk += more.disk;
}

const shown = ({ cpu, memory, disk }: Amounts) => ({ CPU: cpu, MemoryMB: memory, DiskMB: disk });

const wordOf = ({ Status, Drain, SchedulingEligibility }: Node): string => {
  if (Status !== 'ready') return Status;
  return Drain ? 'draining' : SchedulingEligibility === 'eligible' ? 'ready' : 'ineligible';
};

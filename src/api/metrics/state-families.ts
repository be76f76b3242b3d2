/** The metrics of stored rows, from counts that follow the state. */
import { mebibyte } from '../../base/units.ts';
import { placementReasons } from '../../model/allocation/placement-reason.ts';
import type { Node } from '../../model/node/node.ts';
import type { ServerContext } from '../../server/context.ts';
import type { Counts } from '../../server/tallies/counts.ts';
import { waitingStatuses } from '../../server/tallies/evaluations.ts';
import { areManyNodes, capacityOf } from '../../server/tallies/nodes.ts';
import { Tallies, type TallySet } from '../../server/tallies/tallies.ts';
import { nodes } from '../../state/tables.ts';
import type { MetricName } from './definitions.ts';
import { type Family, family, labelled, type Sample } from './family.ts';
import { labelsOfNode } from './labels.ts';

/** Begins to count at the first reading. */
export class StateFamilies {
  readonly #context: ServerContext;
  readonly #tallies: Tallies;

  constructor(context: ServerContext) {
    this.#context = context;
    this.#tallies = new Tallies(context);
  }

  stop(): void {
    this.#tallies.stop();
  }

  async read(): Promise<readonly Family[]> {
    const tallies = await this.#tallies.read();
    const { state, world } = this.#context;
    const table = state.read().table(nodes);
    const { jobs, allocations, unplaced } = tallies;
    return [
      labelled('roster_metrics_limited', 'label', {
        job_id: Number(allocations.counts.isLimited || unplaced.counts.isLimited),
        namespace: Number(jobs.counts.isLimited),
        node: Number(areManyNodes(table.size)),
      }),
      ...evaluationFamilies(tallies, world.clock.nowMs()),
      ...jobFamilies(tallies),
      ...nodeFamilies(tallies, table.scan(), areManyNodes(table.size)),
    ];
  }
}

function evaluationFamilies({ evaluations }: TallySet, nowMs: number): readonly Family[] {
  const ages = waitingStatuses.map((status) => {
    const ageMs = nowMs - (evaluations.oldestMs(status) ?? nowMs);
    return [status, Math.max(0, ageMs) / 1000];
  });
  return [
    labelled(
      'roster_evaluations',
      'status',
      Object.fromEntries(evaluations.columns.map((name, at) => [name, evaluations.values[at]!])),
    ),
    labelled('roster_evaluation_oldest_age_seconds', 'status', Object.fromEntries(ages)),
    labelled(
      'roster_placement_failures_total',
      'reason',
      Object.fromEntries(
        placementReasons.map((reason) => [reason, evaluations.failures.get(reason) ?? 0]),
      ),
    ),
  ];
}

function jobFamilies(tallies: TallySet): readonly Family[] {
  const { jobs, allocations, unplaced, deployments, services } = tallies;
  const { counts, statuses, ended, placedColumn, restartsColumn } = allocations;
  return [
    counted('roster_jobs', jobs.counts, jobs.columns),
    family('roster_allocations', samplesOf(counts, 'status', statuses)),
    family('roster_allocations_ended_total', samplesOf(counts, 'status', ended)),
    family('roster_placements_total', columnOf(counts, placedColumn)),
    family('roster_task_restarts_total', columnOf(counts, restartsColumn)),
    family('roster_allocations_unplaced', columnOf(unplaced.counts, 0)),
    counted('roster_deployments', deployments.counts, deployments.columns),
    counted('roster_deployments_ended_total', deployments.ended, deployments.endedColumns),
    counted('roster_service_instances', services.counts, services.columns),
  ];
}

const counted = (
  name: MetricName,
  counts: Counts,
  columns: readonly string[],
  label = 'status',
): Family =>
  family(name, samplesOf(counts, label, Object.fromEntries(columns.map((one, at) => [one, at]))));

/** A sample for each group and each of these columns. */
function samplesOf(
  counts: Counts,
  label: string,
  columns: Readonly<Record<string, number | undefined>>,
): readonly Sample[] {
  const named = Object.entries(columns);
  const samples: Sample[] = [];
  for (const { labels, values } of counts.groups()) {
    for (const [name, at] of named) {
      samples.push({ labels: { ...labels, [label]: name }, value: values[at!]! });
    }
  }
  return samples;
}

const columnOf = (counts: Counts, column: number): readonly Sample[] =>
  Array.from(counts.groups(), ({ labels, values }) => ({ labels, value: values[column]! }));

const hertzPerMhz = 1e6;

const resources = [
  ['cpu', 'cpu_hertz', hertzPerMhz],
  ['memory', 'memory_bytes', mebibyte],
  ['disk', 'disk_bytes', mebibyte],
] as const;

interface Room {
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: Record<'cpu' | 'memory' | 'disk', number>;
  readonly allocated: Record<'cpu' | 'memory' | 'disk', number>;
}

function nodeFamilies(
  { nodes: tally, held }: TallySet,
  rows: Iterable<Node>,
  areMany: boolean,
): readonly Family[] {
  const rooms = new Map<string, Room>();
  for (const row of rows) {
    if (row.Status === 'down') continue;
    const labels = areMany ? { pool: row.NodePool } : labelsOfNode(row);
    const key = areMany ? row.NodePool : row.ID;
    const room = rooms.get(key) ?? { labels, capacity: none(), allocated: none() };
    const [capacity, allocated] = [capacityOf(row), held.of(row.ID)];
    for (const [name] of resources) {
      room.capacity[name] += capacity[name];
      room.allocated[name] += allocated[name];
    }
    rooms.set(key, room);
  }
  return [
    counted('roster_nodes', tally.byStatus, tally.statuses),
    counted('roster_nodes_work', tally.byWork, tally.work, 'work'),
    ...resources.flatMap(([name, unit, factor]) =>
      (['capacity', 'allocated'] as const).map((kind) =>
        family(
          `roster_node_${kind}_${unit}`,
          Array.from(rooms.values(), ({ labels, [kind]: sums }) => ({
            labels,
            value: sums[name] * factor,
          })),
        ),
      ),
    ),
  ];
}

const none = () => ({ cpu: 0, memory: 0, disk: 0 });

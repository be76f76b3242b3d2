import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { AllocationSchema } from '../../model/allocation/allocation.ts';
import { complete } from '../../model/complete.ts';
import { limits } from '../../model/limits.ts';
import { NodeSchema } from '../../model/node/node.ts';
import { countersIn } from '../../model/node/node-counters.ts';
import { ServiceRegistrationSchema } from '../../model/service-registration/service-registration.ts';
import { memoryState } from '../../state/state.test-helper.ts';
import { allocations, allTables, nodes, serviceRegistrations } from '../../state/tables.ts';
import { countedFamilies, rowsOfNode } from './node-families.ts';

const Machine = {
  CpuMs: 5000,
  Cores: 2,
  MemoryBytes: 100,
  MemoryUsedBytes: 60,
  DiskBytes: 10,
  DiskUsedBytes: 4,
  UptimeSeconds: 9,
};
const task = (AllocID: string, Task = 't') => ({ AllocID, Task, CpuMs: 1500, MemoryBytes: 7 });

/** Two nodes with this many allocations of a job on each. */
async function snapshotOf(count: number) {
  const world = new SimulatedWorld(1);
  const state = await memoryState(allTables, world);
  const written = state.write((transaction) => {
    for (const ID of ['n1', 'n2']) {
      transaction
        .table(nodes)
        .put({ ...complete(NodeSchema, { ID, Name: 'same' }), SecretHash: ID });
      for (let at = 0; at < count; at++) {
        const Tasks = { t: { Memory: { MemoryMB: 1, MemoryMaxMB: at === 0 ? 2 : 0 } } };
        const AllocatedResources = { Tasks, Shared: { DiskMB: 0 } };
        const fields = {
          ID: `${ID}-${at}`,
          Namespace: 'default',
          JobID: 'web/dispatch-1-a',
          TaskGroup: 'g',
        };
        const row = complete(AllocationSchema, { ...fields, NodeID: ID, AllocatedResources });
        transaction.table(allocations).put(row);
        const service = { ID: `s-${row.ID}`, ServiceName: 's', NodeID: ID, AllocID: row.ID };
        const registered = complete(ServiceRegistrationSchema, {
          ...service,
          Namespace: 'default',
        });
        transaction.table(serviceRegistrations).put(registered);
      }
    }
  });
  await world.advance(0);
  await written;
  return state.read();
}

const valuesIn = (families: ReturnType<typeof countedFamilies>, name: string) =>
  families.find((one) => one.name === name)!.values.map(({ labels, value }) => [labels, value]);

test('a node tells of itself and of its own tasks alone', async () => {
  const snapshot = await snapshotOf(1);
  const checks = { pending: 0, passing: 2, warning: 0, critical: 1 };
  const Checks = [
    { AllocID: 'n1-0', Service: 's', ...checks },
    { AllocID: 'n1-0', Service: 'not registered', ...checks },
    { AllocID: 'n2-0', Service: 's', ...checks },
  ];
  const told = [task('n1-0'), task('n2-0'), task('n1-0', 'constructor'), task('none')];
  const families = countedFamilies(rowsOfNode(snapshot, 'n1')!, { Machine, Tasks: told, Checks });
  const own = { pool: 'default', node: 'same', node_id: 'n1' };
  const labels = { namespace: 'default', job_id: 'web', group: 'g', task: 't', alloc_id: 'n1-0' };
  expect(valuesIn(families, 'roster_node_cpu_seconds_total')).toEqual([[own, 5]]);
  expect(valuesIn(families, 'roster_task_cpu_seconds_total')).toEqual([[labels, 1.5]]);
  expect(valuesIn(families, 'roster_task_memory_limit_bytes')).toEqual([[labels, 2 ** 21]]);
  const { task: _, ...ofService } = { ...labels, service: 's' };
  expect(valuesIn(families, 'roster_service_checks')).toEqual([
    [{ ...ofService, status: 'pending' }, 0],
    [{ ...ofService, status: 'passing' }, 2],
    [{ ...ofService, status: 'warning' }, 0],
    [{ ...ofService, status: 'critical' }, 1],
  ]);
});

test('of too many allocations the sums are told', async () => {
  const most = limits.metrics.allocationsPerNodeMax;
  const snapshot = await snapshotOf(most + 1);
  const tasks = Array.from({ length: most + 1 }, (_, at) => task(`n1-${at}`));
  const seriesOf = (Tasks: typeof tasks) =>
    valuesIn(
      countedFamilies(rowsOfNode(snapshot, 'n1')!, { Machine, Tasks, Checks: [] }),
      'roster_task_memory_bytes',
    );
  expect(seriesOf(tasks.slice(1))).toHaveLength(most);
  const labels = { namespace: 'default', job_id: 'web', group: 'g', task: 't' };
  expect(seriesOf(tasks)).toEqual([[labels, 7 * (most + 1)]]);
});

const { Cores: _, ...incomplete } = Machine;
test.each([
  ['no JSON', '{'],
  ['no object', '[]'],
  ['a missing figure', JSON.stringify({ Machine: incomplete, Tasks: [] })],
  ['a negative figure', JSON.stringify({ Machine: { ...Machine, CpuMs: -1 }, Tasks: [] })],
  ['a figure that is a text', JSON.stringify({ Machine: { ...Machine, CpuMs: '1' }, Tasks: [] })],
  [
    'a check without a figure',
    JSON.stringify({ Machine, Tasks: [], Checks: [{ AllocID: 'a', Service: 's', passing: 1 }] }),
  ],
  [
    'a task without an allocation',
    JSON.stringify({ Machine, Tasks: [{ Task: 't', CpuMs: 1, MemoryBytes: 1 }] }),
  ],
])('the answer of a node with %s is not taken', (_title, text) => {
  expect(countersIn(text)).toBeUndefined();
});

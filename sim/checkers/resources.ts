import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Node } from '../../src/model/node/node.ts';
import { allocations, nodes } from '../../src/state/tables.ts';
import type { Machine } from '../machine.ts';
import type { Checker, Fault } from './checker.ts';

interface Sum {
  cpu: number;
  memory: number;
  readonly ports: Map<string, string>;
}

/**
 * What is wanted on a node fits on it, in the state after each commit, and so does what really runs on
 * the machine.
 */
export const noResourceTwice = (): Checker => ({
  guarantee: 'no resource is given twice',
  committed(changes, _index, { view, machines }, fault) {
    const touched = new Set<string>();
    for (const { table, after } of changes) {
      if (table === allocations.name && after !== undefined)
        touched.add((after as Allocation).NodeID);
    }
    for (const id of touched) {
      const node = view.table(nodes).get(id);
      if (node === undefined) continue;
      const wanted = [
        ...view
          .table(allocations)
          .by('occupant')
          .scan({ prefix: [id] }),
      ].filter(({ DesiredStatus }) => DesiredStatus === 'run');
      checkFit('is wanted on', node, wanted, fault);
      const machine = machines.get(id);
      if (machine !== undefined) checkFit('runs on', node, running(machine), fault);
    }
  },
});

const running = ({ runs }: Machine): Allocation[] =>
  [...runs.values()].filter((run) => run.isRunning).map((run) => run.allocation);

function checkFit(how: string, node: Node, holders: readonly Allocation[], fault: Fault): void {
  const sum: Sum = { cpu: 0, memory: 0, ports: new Map() };
  for (const { ID, AllocatedResources } of holders) {
    for (const task of Object.values(AllocatedResources.Tasks)) {
      sum.cpu += task.Cpu.CpuShares;
      sum.memory += task.Memory.MemoryMB;
    }
    for (const { Value, HostIP } of AllocatedResources.Shared.Ports ?? []) {
      const port = `${HostIP}:${Value}`;
      const other = sum.ports.get(port);
      if (other !== undefined) fault(`port ${port} of ${node.Name} is held by ${other} and ${ID}`);
      sum.ports.set(port, ID);
    }
  }
  const { Cpu, Memory } = node.NodeResources;
  if (sum.cpu > Cpu.CpuShares)
    fault(`${sum.cpu} MHz ${how} ${node.Name}, which has ${Cpu.CpuShares}`);
  if (sum.memory > Memory.MemoryMB) {
    fault(`${sum.memory} MB ${how} ${node.Name}, which has ${Memory.MemoryMB}`);
  }
}

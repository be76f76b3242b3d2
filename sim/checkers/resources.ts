import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Node } from '../../src/model/node/node.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import { allocations } from '../../src/state/tables.ts';
import type { Change } from '../../src/state/types.ts';
import { type Account, isEnded } from '../account.ts';
import type { Checker, Fault } from './checker.ts';

/**
 * The wanted allocations of a node fit on it after each transaction, and the running tasks of a machine
 * fit on it whenever a task begins. After a restore a machine keeps for a while what the snapshot does not
 * know, or knows as ended: nobody reckons with the resources of these tasks, so they are left out.
 */
export const noResourceTwice = (): Checker => {
  let wasRestored = false;
  return {
    guarantee: 'no resource is allocated twice',
    restored(changes, _index, { account }, fault) {
      wasRestored = true;
      checkWanted(changes, account, fault);
    },
    committed: (changes, _index, { account }, fault) => checkWanted(changes, account, fault),
    moved(machine, run, { account }, fault) {
      const node = account.node(machine.hardware.id);
      if (node === undefined || !run.isRunning) return;
      const use = new Use();
      const leaving: string[] = [];
      for (const { allocation, isRunning } of machine.runs.values()) {
        const known = account.allocation(allocation.ID);
        const isReckoned = known !== undefined && !isEnded(known);
        if (!isRunning || (wasRestored && !isReckoned)) continue;
        use.add(allocation, fault, node);
        if (known?.DesiredStatus !== 'run') leaving.push(allocation.Name);
      }
      const beside = leaving.length === 0 ? '' : ` while ${leaving.join(', ')} had not ended`;
      use.check('runs on', node, (sentence) =>
        fault(`${sentence}: ${run.allocation.Name} began${beside}`),
      );
    },
  };
};

/** Checks the nodes whose wanted allocations changed. */
function checkWanted(changes: readonly Change[], account: Account, fault: Fault): void {
  const touched = new Set<string>();
  for (const { table, before, after } of changes) {
    const one = after as Allocation | undefined;
    if (table !== allocations.name || one?.DesiredStatus !== 'run') continue;
    const was = before as Allocation | undefined;
    if (was?.AllocatedResources !== one.AllocatedResources) touched.add(one.NodeID);
  }
  for (const id of touched) {
    const node = account.node(id);
    if (node === undefined) continue;
    const use = new Use();
    for (const one of account.occupantsOf(id)) {
      if (one.DesiredStatus === 'run') use.add(one, fault, node);
    }
    use.check('is wanted on', node, fault);
  }
}

/** The resources of a node that some allocations use together. */
export class Use {
  cpuMhz = 0;
  memoryMb = 0;
  diskMb = 0;
  /** The allocation that uses each port, core and device. */
  readonly #held = new Map<string, string>();

  add({ ID, AllocatedResources }: Allocation, fault: Fault = () => {}, on?: Node): void {
    const { Tasks, Shared } = AllocatedResources;
    const hold = (what: string) => {
      const other = this.#held.get(what);
      if (other !== undefined) fault(`${what} of ${on?.Name} is held by ${other} and ${ID}`);
      this.#held.set(what, ID);
    };
    for (const task of Object.values(Tasks)) {
      this.cpuMhz += task.Cpu.CpuShares;
      this.memoryMb += task.Memory.MemoryMB;
      for (const core of task.Cpu.ReservedCores ?? []) hold(`core ${core}`);
      for (const { Type, DeviceIDs } of task.Devices ?? []) {
        for (const id of DeviceIDs) hold(`${Type} ${id}`);
      }
    }
    this.diskMb += Shared.DiskMB;
    for (const { Value, HostIP } of Shared.Ports ?? []) hold(`port ${HostIP}:${Value}`);
  }

  check(how: string, { Name, NodeResources }: Node, fault: Fault): void {
    const { Cpu, Memory, Disk } = NodeResources;
    const checkSum = (used: number, has: number, unit: string) => {
      if (used > has) fault(`${used} ${unit} ${how} ${Name}, which has ${has}`);
    };
    checkSum(this.cpuMhz, Cpu.CpuShares, 'MHz');
    checkSum(this.memoryMb, Memory.MemoryMB, 'MB');
    checkSum(this.diskMb, Disk.DiskMB, 'MB of disk');
  }

  /** Whether the node has room for another allocation of the group. */
  hasRoomFor({ Tasks, EphemeralDisk, Networks }: TaskGroup, { NodeResources }: Node): boolean {
    const { Cpu, Memory, Disk, Devices } = NodeResources;
    const perCore = Cpu.CpuShares / Math.max(Cpu.TotalCpuCores, 1);
    let cpuMhz = 0;
    let memoryMb = 0;
    let cores = 0;
    const devices = new Map<string, number>();
    for (const { Resources } of Tasks) {
      cpuMhz += Resources.CPU + Resources.Cores * perCore;
      memoryMb += Resources.MemoryMB;
      cores += Resources.Cores;
      for (const { Name, Count } of Resources.Devices ?? []) {
        devices.set(Name, (devices.get(Name) ?? 0) + Count);
      }
    }
    const reserved = (Networks ?? []).flatMap(({ ReservedPorts }) => ReservedPorts ?? []);
    const freeOf = (type: string) =>
      Devices.filter(({ Type }) => Type === type)
        .flatMap(({ Instances }) => Instances)
        .filter(({ ID }) => !this.#held.has(`${type} ${ID}`)).length;
    return (
      this.cpuMhz + cpuMhz <= Cpu.CpuShares &&
      this.memoryMb + memoryMb <= Memory.MemoryMB &&
      this.diskMb + EphemeralDisk.SizeMB <= Disk.DiskMB &&
      cores <= Cpu.ReservableCpuCores.length - this.#countHeld('core ') &&
      reserved.every(({ Value }) => !this.#isTaken(Value)) &&
      [...devices].every(([type, count]) => count <= freeOf(type))
    );
  }

  #countHeld(kind: string): number {
    return [...this.#held.keys()].filter((what) => what.startsWith(kind)).length;
  }

  #isTaken(port: number): boolean {
    return [...this.#held.keys()].some(
      (what) => what.startsWith('port ') && what.endsWith(`:${port}`),
    );
  }
}

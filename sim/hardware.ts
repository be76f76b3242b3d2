/** The hardware of the fleet, in several sizes, classes, racks, datacenters and pools. */
import type { Ids } from '../src/base/ports.ts';

export interface Hardware {
  readonly id: string;
  readonly name: string;
  readonly datacenter: string;
  readonly pool: string;
  readonly class: string;
  readonly rack: string;
  readonly cpuMhz: number;
  readonly memoryMb: number;
  readonly diskMb: number;
  /** Graphics cards. */
  readonly cards: number;
}

const racks = 5;

/** The first three machines are in the default pool, so that jobs run in a small fleet too. */
export const hardware = (number: number, ids: Ids): Hardware => ({
  id: ids.uuid(),
  name: `node-${number}`,
  datacenter: number % 3 === 0 ? 'dc2' : 'dc1',
  pool: number % 7 === 3 ? 'other' : 'default',
  class: number % 2 === 0 ? 'small' : 'large',
  rack: `rack-${number % racks}`,
  cpuMhz: 4000 + (number % 4) * 2000,
  memoryMb: 4096 * (1 + (number % 3)),
  diskMb: 20_000 + (number % 5) * 10_000,
  cards: number % 4 === 1 ? 2 : 0,
});

/** The registration of the machine as a node. */
export const registrationOf = (machine: Hardware) => ({
  ID: machine.id,
  Name: machine.name,
  Datacenter: machine.datacenter,
  NodePool: machine.pool,
  NodeClass: machine.class,
  Meta: { rack: machine.rack },
  Attributes: {
    'kernel.name': 'linux',
    'unique.hostname': machine.name,
    'roster.service_discovery': 'true',
  },
  NodeResources: {
    Cpu: { CpuShares: machine.cpuMhz, TotalCpuCores: 4, ReservableCpuCores: [0, 1, 2, 3] },
    Memory: { MemoryMB: machine.memoryMb },
    Disk: { DiskMB: machine.diskMb },
    Devices: machine.cards === 0 ? [] : [graphics(machine)],
    Networks: [{ Mode: 'host', Device: 'eth0', IP: '10.0.0.1' }],
  },
  Drivers: { mock: { Detected: true, Healthy: true } },
});

const graphics = ({ name, cards }: Hardware) => ({
  Vendor: 'acme',
  Type: 'gpu',
  Name: 'g1',
  Instances: Array.from({ length: cards }, (_, card) => ({ ID: `${name}-${card}`, Healthy: true })),
});

/** The description of a virtual node, for its registration. */
import { complete } from '../../model/complete.ts';
import { driverNames } from '../../model/node/drivers.ts';
import { type NodeRegistration, NodeRegistrationSchema } from '../../model/node/node.ts';
import type { NodeSettings } from '../fingerprint/fingerprint.ts';

/** The settings of a node that decide what is placed on it. Absent values are those of a small machine. */
export interface VirtualNodeSettings
  extends Pick<
    NodeSettings,
    | 'name'
    | 'datacenter'
    | 'nodeClass'
    | 'nodePool'
    | 'meta'
    | 'address'
    | 'cpuTotalMhz'
    | 'memoryTotalMb'
    | 'diskTotalMb'
    | 'hostVolumes'
  > {
  /** Beside those that every virtual node has. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** All drivers of nodes, and the driver of tests with its own settings. */
export const virtualDrivers: readonly string[] = [...driverNames, 'mock'];

const smallMachine = { cores: 4, cpuMhz: 4000, memoryMb: 8192, diskMb: 100_000 };

export function describeVirtualNode(
  id: string,
  name: string,
  settings: VirtualNodeSettings,
): NodeRegistration {
  const { cores } = smallMachine;
  const ip = settings.address ?? '10.0.0.1';
  return complete(NodeRegistrationSchema, {
    ID: id,
    Name: name,
    Datacenter: settings.datacenter ?? 'dc1',
    NodeClass: settings.nodeClass ?? '',
    NodePool: settings.nodePool ?? 'default',
    Meta: { ...settings.meta },
    Attributes: {
      'kernel.name': 'linux',
      'os.name': 'debian',
      'cpu.arch': 'amd64',
      'unique.hostname': name,
      'unique.network.ip-address': ip,
      'roster.service_discovery': 'true',
      ...Object.fromEntries(virtualDrivers.map((driver) => [`driver.${driver}`, '1'])),
      ...settings.attributes,
    },
    NodeResources: {
      Cpu: {
        CpuShares: settings.cpuTotalMhz ?? smallMachine.cpuMhz,
        TotalCpuCores: cores,
        ReservableCpuCores: Array.from({ length: cores }, (_, core) => core),
      },
      Memory: { MemoryMB: settings.memoryTotalMb ?? smallMachine.memoryMb },
      Disk: { DiskMB: settings.diskTotalMb ?? smallMachine.diskMb },
      Networks: [{ Mode: 'host', Device: 'eth0', CIDR: `${ip}/32`, IP: ip, MBits: 1000 }],
    },
    Drivers: Object.fromEntries(
      virtualDrivers.map((driver) => [driver, { Detected: true, Healthy: true }]),
    ),
    HostVolumes: { ...settings.hostVolumes },
  });
}

/** Rules for the fields that a node registers. Source: docs/behaviour/nodes.md#what-a-node-may-say. */
import { checkValues } from '../check-values.ts';
import type { Fault } from '../errors.ts';
import { labelFaults } from '../labels.ts';
import { limits } from '../limits.ts';
import { isPortList } from '../network/port-list.ts';
import { everyNode, poolNameFault } from '../node-pool/node-pool.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { hostVolumeNameFault, hostVolumePathFault } from '../volume/host-volume.ts';
import { type NodeRegistration, NodeRegistrationSchema } from './node.ts';
import { checkDevices } from './validate-devices.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const addressPattern = /^[0-9a-fA-F:.]*$/;

/** Reports a fault unless `holds`. */
type Check = (holds: boolean, path: Path, message: string) => void;

/** All faults of a registration at once. */
export function registrationFaults(node: NodeRegistration, secret: string): Fault[] {
  const at = below(null, 'Node');
  const faults = checkValues(NodeRegistrationSchema, node, at);
  const check: Check = (holds, path, message) => {
    if (!holds && faults.length < limits.fault.listedMax) faults.push(faultAt(path, message));
  };
  check(uuid.test(node.ID), below(at, 'ID'), 'must be a UUID in lower case');
  check(node.Name !== '', below(at, 'Name'), 'is required');
  check(uuid.test(secret), below(null, 'SecretID'), 'must be a UUID in lower case');
  checkPool(node.NodePool, below(at, 'NodePool'), check);
  const { driversMax } = limits.node;
  const drivers = Object.keys(node.Drivers).length;
  const rule = `has ${drivers} entries; at most ${driversMax} are kept`;
  check(drivers <= driversMax, below(at, 'Drivers'), rule);
  checkResources(node, at, check);
  checkVolumes(node, below(at, 'HostVolumes'), check);
  return [...faults, ...labelsOf(node, at)].slice(0, limits.fault.listedMax);
}

function checkPool(pool: string, path: Path, check: Check): void {
  const fault = poolNameFault(pool);
  check(fault === undefined, path, fault ?? '');
  check(pool !== everyNode, path, `must not be "${everyNode}", which is every node there is`);
}

function checkVolumes({ HostVolumes }: NodeRegistration, path: Path, check: Check): void {
  const volumes = Object.entries(HostVolumes);
  const { hostVolumesMax } = limits.node;
  const rule = `has ${volumes.length} entries; at most ${hostVolumesMax} are kept`;
  check(volumes.length <= hostVolumesMax, path, rule);
  for (const [name, { Path: place }] of volumes) {
    const fault = hostVolumeNameFault(name);
    check(fault === undefined, path, `has the name ${quote(name)}: a name ${fault}`);
    const misplaced = hostVolumePathFault(place);
    check(misplaced === undefined, below(path, name, 'Path'), misplaced ?? '');
  }
}

function labelsOf(node: NodeRegistration, at: Path): Fault[] {
  const { attributesMax, attributeLengthMax } = limits.node;
  const bounds = { entriesMax: attributesMax, textLengthMax: attributeLengthMax };
  return (['Attributes', 'Meta'] as const).flatMap((field) =>
    labelFaults(node[field], below(at, field), bounds),
  );
}

function checkResources(node: NodeRegistration, at: Path, check: Check): void {
  const { NodeResources: total, ReservedResources: reserved } = node;
  const kinds = [
    ['Cpu', 'CpuShares', total.Cpu.CpuShares, reserved.Cpu.CpuShares],
    ['Memory', 'MemoryMB', total.Memory.MemoryMB, reserved.Memory.MemoryMB],
    ['Disk', 'DiskMB', total.Disk.DiskMB, reserved.Disk.DiskMB],
  ] as const;
  for (const [kind, field, has, keeps] of kinds) {
    const path = below(at, 'ReservedResources', kind, field);
    check(keeps <= Math.max(has, 0), path, `is ${keeps}, more than the node’s ${has}`);
  }
  const path = below(at, 'NodeResources');
  const { TotalCpuCores, ReservableCpuCores: cores } = total.Cpu;
  const coresPath = below(path, 'Cpu', 'ReservableCpuCores');
  check(new Set(cores).size === cores.length, coresPath, 'must not name a core twice');
  check(
    cores.length <= TotalCpuCores,
    coresPath,
    `has more cores than the node’s ${TotalCpuCores}`,
  );
  const { MinDynamicPort: first, MaxDynamicPort: last } = total;
  check(first <= last, below(path, 'MinDynamicPort'), 'is greater than MaxDynamicPort');
  checkNetworks(node, below(path, 'Networks'), check);
  checkDevices(total.Devices, below(path, 'Devices'), check);
  const ports = reserved.Networks.ReservedHostPorts;
  const portsPath = below(at, 'ReservedResources', 'Networks', 'ReservedHostPorts');
  check(isPortList(ports), portsPath, `must be ports such as "22,8000-8010", got ${quote(ports)}`);
}

function checkNetworks(node: NodeRegistration, path: Path, check: Check): void {
  const { Networks } = node.NodeResources;
  const { networksMax } = limits.node;
  const rule = `has ${Networks.length} entries; at most ${networksMax} are kept`;
  check(Networks.length <= networksMax, path, rule);
  Networks.forEach(({ IP }, index) => {
    const message = `must be an IP address, got ${quote(IP)}`;
    check(addressPattern.test(IP), below(path, index, 'IP'), message);
  });
}

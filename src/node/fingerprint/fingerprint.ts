import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { instantFromMs } from '../../base/instant.ts';
import type { Clock } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { DriverInfo, NodeRegistration } from '../../model/node/node.ts';
import type { NodeCapacity } from '../../model/node/node-capacity.ts';
import type { HostVolumes } from '../../model/volume/host-volume.ts';
import type { Drivers } from '../drivers/driver.ts';
import { readAddress } from './address.ts';
import { hostAttributes } from './host.ts';
import { findHostVolumes } from './host-volumes.ts';
import { processorAttributes, readProcessor } from './processor.ts';

/** An operator's settings of a node. */
export interface NodeSettings extends NodeCapacity {
  readonly name?: string;
  readonly datacenter?: string;
  readonly nodeClass?: string;
  readonly nodePool?: string;
  readonly meta?: Readonly<Record<string, string>>;
  readonly httpAddress?: string;
  /** Remote commands in tasks are disabled here, whatever the caller's permissions. */
  readonly isRemoteExecDisabled?: boolean;
  /** Directories that tasks may mount, by name. */
  readonly hostVolumes?: HostVolumes;
}

export interface FingerprintInput {
  readonly version: string;
  readonly dataDirectory: string;
  readonly settings: NodeSettings;
  readonly drivers: Drivers;
  readonly clock: Clock;
}

const mebibyte = 2 ** 20;

/** The description of this machine, apart from the node's id. Rejects when it cannot offer a configured volume. */
export async function fingerprint(input: FingerprintInput): Promise<Omit<NodeRegistration, 'ID'>> {
  const { settings, dataDirectory } = input;
  const processor = readProcessor();
  const disk = await readDisk(dataDirectory);
  const address = readAddress();
  const ip = settings.address ?? address.ip;
  const host = hostAttributes();
  const drivers = await driverInfos(input);
  return {
    Name: settings.name ?? host['unique.hostname']!,
    Datacenter: settings.datacenter ?? 'dc1',
    NodeClass: settings.nodeClass ?? '',
    NodePool: settings.nodePool ?? 'default',
    HTTPAddr: settings.httpAddress ?? '',
    Attributes: {
      ...host,
      ...processorAttributes(processor),
      'memory.totalbytes': String(totalmem()),
      'unique.storage.volume': dataDirectory,
      'unique.storage.bytestotal': String(disk.totalBytes),
      'unique.storage.bytesfree': String(disk.freeBytes),
      'unique.network.ip-address': ip,
      'roster.version': input.version,
      'roster.runtime': process.execPath,
      'roster.service_discovery': 'true',
      ...driverAttributes(drivers),
    },
    Meta: { ...settings.meta },
    NodeResources: {
      Cpu: {
        CpuShares: settings.cpuTotalMhz ?? processor.totalMhz,
        TotalCpuCores: processor.cores,
        ReservableCpuCores: Array.from({ length: processor.cores }, (_, core) => core),
      },
      Memory: { MemoryMB: settings.memoryTotalMb ?? Math.floor(totalmem() / mebibyte) },
      Disk: { DiskMB: settings.diskTotalMb ?? Math.floor(disk.freeBytes / mebibyte) },
      Networks: [
        settings.address === undefined
          ? { Mode: 'host', Device: address.device, CIDR: address.cidr, IP: ip, MBits: 1000 }
          : { Mode: 'host', Device: '', CIDR: `${ip}/32`, IP: ip, MBits: 1000 },
      ],
      Devices: [],
      MinDynamicPort: settings.dynamicPortMin ?? limits.network.dynamicPortMin,
      MaxDynamicPort: settings.dynamicPortMax ?? limits.network.dynamicPortMax,
    },
    ReservedResources: {
      Cpu: { CpuShares: settings.reserved?.cpuMhz ?? 0 },
      Memory: { MemoryMB: settings.reserved?.memoryMb ?? 0 },
      Disk: { DiskMB: settings.reserved?.diskMb ?? 0 },
      Networks: { ReservedHostPorts: settings.reserved?.hostPorts ?? '' },
    },
    Drivers: drivers,
    HostVolumes: await findHostVolumes(settings.hostVolumes ?? {}),
  };
}

async function readDisk(directory: string) {
  const { blocks, bavail, bsize } = await statfs(directory);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}

/** The node with the present state of its drivers; the same object when that has not changed. */
export async function withDriversOf(
  node: NodeRegistration,
  input: Pick<FingerprintInput, 'drivers' | 'clock'>,
): Promise<NodeRegistration> {
  const now = await driverInfos(input);
  const told = Object.entries(now).map(([name, info]) => {
    const { UpdateTime, ...rest } = node.Drivers[name] ?? info;
    const { UpdateTime: _, ...found } = info;
    const isSame = node.Drivers[name] !== undefined && isDeepStrictEqual(rest, found);
    return [name, isSame ? { ...info, UpdateTime } : info, isSame] as const;
  });
  if (told.every(([, , isSame]) => isSame)) return node;
  const Drivers = Object.fromEntries(told.map(([name, info]) => [name, info]));
  const others = Object.entries(node.Attributes).filter(([name]) => !name.startsWith('driver.'));
  const Attributes = { ...Object.fromEntries(others), ...driverAttributes(Drivers) };
  return { ...node, Attributes, Drivers };
}

async function driverInfos(
  input: Pick<FingerprintInput, 'drivers' | 'clock'>,
): Promise<Record<string, DriverInfo>> {
  const entries = [...input.drivers.values()].map(async (driver) => {
    const { detected, healthy, description, attributes } = await driver.fingerprint();
    const info: DriverInfo = {
      Detected: detected,
      Healthy: healthy,
      HealthDescription: description,
      Attributes: prefixed(`driver.${driver.name}.`, {
        ...attributes,
        // Servers demand more permissions for commands that see the whole machine.
        isolation: driver.capabilities.fileSystemIsolation,
      }),
      UpdateTime: instantFromMs(input.clock.nowMs()),
    };
    return [driver.name, info] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const prefixed = (prefix: string, values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}${name}`, value]));

function driverAttributes(drivers: Readonly<Record<string, DriverInfo>>): Record<string, string> {
  const found = Object.entries(drivers).filter(([, { Detected }]) => Detected);
  return Object.assign(
    {},
    ...found.map(([name, { Attributes }]) => ({ [`driver.${name}`]: '1', ...Attributes })),
  );
}

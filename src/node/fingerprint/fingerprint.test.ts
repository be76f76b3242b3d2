import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { attributeNames } from '../../model/node/attribute-names.ts';
import { MockDriver } from '../drivers/mock.ts';
import { defaultDevice } from './address.ts';
import { fingerprint, type NodeSettings } from './fingerprint.ts';
import { osRelease } from './host.ts';
import { processorSpeedsMhz } from './processor.ts';

const world = new SimulatedWorld(1);

const nodeWith = (settings: NodeSettings) =>
  fingerprint({
    version: '1.2.3',
    dataDirectory: tmpdir(),
    settings,
    drivers: new Map([['mock', new MockDriver(world)]]),
    clock: world.clock,
  });

test('a machine describes itself and its resources', async () => {
  const node = await nodeWith({});
  expect(node.Attributes).toMatchObject({
    'roster.version': '1.2.3',
    'roster.runtime': process.execPath,
    'kernel.name': 'linux',
    'driver.mock': '1',
    'unique.network.ip-address': expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
    'unique.storage.volume': tmpdir(),
  });
  const told = Object.keys(node.Attributes).filter((name) => !name.startsWith('driver.'));
  expect(told.sort()).toEqual([...attributeNames].sort());
  const { Cpu, Memory, Disk, MinDynamicPort, MaxDynamicPort } = node.NodeResources;
  for (const amount of [Cpu.CpuShares, Cpu.TotalCpuCores, Memory.MemoryMB, Disk.DiskMB]) {
    expect(amount).toBeGreaterThan(0);
    expect(Number.isInteger(amount)).toBe(true);
  }
  expect([MinDynamicPort, MaxDynamicPort]).toEqual([20_000, 32_000]);
  expect(node.Drivers.mock).toMatchObject({ Detected: true, Healthy: true });
});

test('an operator’s settings win', async () => {
  const node = await nodeWith({
    name: 'alpha',
    datacenter: 'dc7',
    nodeClass: 'big',
    nodePool: 'gpu',
    meta: { rack: 'r1' },
    address: '127.0.0.1',
    cpuTotalMhz: 8000,
    memoryTotalMb: 4096,
    reserved: { memoryMb: 256, hostPorts: '22' },
  });
  expect(node).toMatchObject({
    Name: 'alpha',
    Datacenter: 'dc7',
    NodeClass: 'big',
    NodePool: 'gpu',
    Meta: { rack: 'r1' },
    NodeResources: {
      Cpu: { CpuShares: 8000 },
      Memory: { MemoryMB: 4096 },
      Networks: [{ Mode: 'host', IP: '127.0.0.1', CIDR: '127.0.0.1/32' }],
    },
    ReservedResources: { Memory: { MemoryMB: 256 }, Networks: { ReservedHostPorts: '22' } },
  });
});

test('the system’s files are parsed', () => {
  const release = 'PRETTY_NAME="Debian 12"\nVERSION_ID="12"\nID=debian\n';
  expect(osRelease(release)).toMatchObject({ ID: 'debian', VERSION_ID: '12' });
  expect(processorSpeedsMhz('cpu MHz\t\t: 2400.5\nx: 1\ncpu MHz\t\t: 1800\n')).toEqual([
    2400.5, 1800,
  ]);
  const routes = 'Iface\tDestination\tGateway\neth1\t0000A8C0\t0\neth0\t00000000\t0100A8C0\n';
  expect(defaultDevice(routes)).toBe('eth0');
  expect(defaultDevice('')).toBeUndefined();
});

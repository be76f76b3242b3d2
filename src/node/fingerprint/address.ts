import { networkInterfaces } from 'node:os';
import { readText } from './host.ts';

export interface HostAddress {
  readonly device: string;
  readonly ip: string;
  readonly cidr: string;
}

const loopback: HostAddress = { device: 'lo', ip: '127.0.0.1', cidr: '127.0.0.1/32' };

/** The first IPv4 address of the device with the default route, else of any, else the loopback. */
export function readAddress(): HostAddress {
  const preferred = defaultDevice(readText('/proc/net/route'));
  const addresses = Object.entries(networkInterfaces()).flatMap(([device, entries = []]) =>
    entries
      .filter((entry) => entry.family === 'IPv4' && !entry.internal)
      .map((entry) => ({
        device,
        ip: entry.address,
        cidr: `${entry.address}/32`,
      })),
  );
  return addresses.find(({ device }) => device === preferred) ?? addresses[0] ?? loopback;
}

/** The device of the default route in `/proc/net/route`. */
export function defaultDevice(routes: string): string | undefined {
  const line = routes.split('\n').find((route) => route.split('\t')[1] === '00000000');
  return line?.split('\t')[0];
}

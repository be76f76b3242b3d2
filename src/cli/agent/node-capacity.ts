/** The settings `node.*` that say what a node offers to tasks, in place of what the agent detects. */
import { limits } from '../../model/limits.ts';
import { isPortList } from '../../model/network/port-list.ts';
import type { NodeCapacity } from '../../model/node/node-capacity.ts';
import { textThat, wholeBetween, wholeFrom1 } from './setting-checks.ts';

const { portMax, dynamicPortMin, dynamicPortMax } = limits.network;
const port = wholeBetween(1, portMax);
const wholeFrom0 = wholeBetween(0, Number.MAX_SAFE_INTEGER);

/** Whether the text is an IP address, as the hosts of URLs are read. */
function isAddress(text: string): boolean {
  if (/^\d+(\.\d+){3}$/.test(text)) return URL.parse(`http://${text}`)?.hostname === text;
  return /^[\da-f:.]*:[\da-f:.]*$/i.test(text) && URL.canParse(`http://[${text}]`);
}

export const capacitySettings = {
  'node.address': textThat(isAddress, 'must be an IP address, such as "10.0.0.7"'),
  'node.cpu_total_compute': wholeFrom1,
  'node.memory_total_mb': wholeFrom1,
  'node.disk_total_mb': wholeFrom1,
  'node.min_dynamic_port': port,
  'node.max_dynamic_port': port,
  'node.reserved.cpu': wholeFrom0,
  'node.reserved.memory': wholeFrom0,
  'node.reserved.disk': wholeFrom0,
  'node.reserved.reserved_ports': textThat(isPortList, 'must be ports such as "22,8000-8010"'),
} as const;

type CapacitySetting = keyof typeof capacitySettings;
type Given = { readonly [K in CapacitySetting]?: unknown };

/** The faults of settings that are valid by themselves. */
export function capacityFaults(given: Given, nameOf: (setting: CapacitySetting) => string) {
  const [least, most] = ['node.min_dynamic_port', 'node.max_dynamic_port'] as const;
  const first = Number(given[least] ?? dynamicPortMin);
  const last = Number(given[most] ?? dynamicPortMax);
  if (!(first > last)) return [];
  return [`${nameOf(least)} is ${first}, which is greater than ${nameOf(most)}, ${last}`];
}

/** The valid settings that are given. */
export function capacityOf(given: Given): NodeCapacity {
  const numbers = given as Readonly<Record<CapacitySetting, number | undefined>>;
  const reserved = withoutAbsent({
    cpuMhz: numbers['node.reserved.cpu'],
    memoryMb: numbers['node.reserved.memory'],
    diskMb: numbers['node.reserved.disk'],
    hostPorts: given['node.reserved.reserved_ports'] as string | undefined,
  });
  return withoutAbsent({
    address: given['node.address'] as string | undefined,
    cpuTotalMhz: numbers['node.cpu_total_compute'],
    memoryTotalMb: numbers['node.memory_total_mb'],
    diskTotalMb: numbers['node.disk_total_mb'],
    dynamicPortMin: numbers['node.min_dynamic_port'],
    dynamicPortMax: numbers['node.max_dynamic_port'],
    reserved: Object.keys(reserved).length === 0 ? undefined : reserved,
  });
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

const withoutAbsent = <T extends object>(given: T): Present<T> =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as Present<T>;

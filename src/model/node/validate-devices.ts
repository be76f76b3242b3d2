/** Rules for the devices that a node registers. Source: docs/behaviour/scheduling.md#devices. */
import { limits } from '../limits.ts';
import { below, type Path } from '../path.ts';
import { type DeviceAttribute, deviceKey, type NodeDevice } from './device.ts';

/** Reports a fault unless `holds`. */
type Check = (holds: boolean, path: Path, message: string) => void;

export function checkDevices(devices: readonly NodeDevice[], path: Path, check: Check): void {
  const { devicesMax, deviceInstancesMax } = limits.node;
  const few = `has ${devices.length} entries; at most ${devicesMax} are kept`;
  check(devices.length <= devicesMax, path, few);
  const instances = devices.reduce((sum, { Instances }) => sum + Instances.length, 0);
  const rule = `has ${instances} instances; at most ${deviceInstancesMax} are kept`;
  check(instances <= deviceInstancesMax, path, rule);
  const keys = new Set<string>();
  devices.slice(0, devicesMax).forEach((device, index) => {
    const at = below(path, index);
    check(
      !keys.has(deviceKey(device)),
      at,
      `is ${deviceKey(device)}, which an earlier entry is, too`,
    );
    keys.add(deviceKey(device));
    checkDevice(device, at, check);
  });
}

function checkDevice(device: NodeDevice, at: Path, check: Check): void {
  check(device.Type !== '', below(at, 'Type'), 'is required');
  // A job names the three parts with slashes between them.
  for (const field of ['Vendor', 'Type'] as const) {
    check(!device[field].includes('/'), below(at, field), 'must not hold a slash');
  }
  const ids = new Set<string>();
  device.Instances.forEach(({ ID }, index) => {
    const path = below(at, 'Instances', index, 'ID');
    check(ID !== '' && !ID.includes('\0'), path, 'is required, without a NUL character');
    // Lists of ids are written with commas.
    check(!ID.includes(','), path, 'must not hold a comma');
    check(!ids.has(ID), path, 'is the ID of another instance');
    ids.add(ID);
  });
  checkAttributes(device.Attributes, below(at, 'Attributes'), check);
}

function checkAttributes(attributes: NodeDevice['Attributes'], path: Path, check: Check): void {
  const { deviceAttributesMax } = limits.node;
  const entries = Object.entries(attributes);
  const few = `has ${entries.length} entries; at most ${deviceAttributesMax} are kept`;
  check(entries.length <= deviceAttributesMax, path, few);
  for (const [name, attribute] of entries.slice(0, deviceAttributesMax)) {
    const at = below(path, name.slice(0, limits.fault.quotedLengthMax));
    check(name.length <= limits.names.lengthMax, at, 'has too long a name');
    const rule = 'must have one of Float, Int, String and Bool, and a Unit only with a number';
    check(isOneValue(attribute), at, rule);
  }
}

function isOneValue({ Float, Int, String: text, Bool, Unit }: DeviceAttribute): boolean {
  const given = [Float, Int, text, Bool].filter((value) => value !== null);
  return given.length === 1 && (Unit === '' || typeof given[0] === 'number');
}

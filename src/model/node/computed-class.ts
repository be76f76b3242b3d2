import { createHash } from 'node:crypto';
import { deviceKey } from './device.ts';
import type { NodeRegistration } from './node.ts';

/**
 * A text that is equal for nodes that no constraint can tell apart, unique attributes aside. So a result for
 * one of these nodes holds for all of them. Source: docs/behaviour/scheduling.md#classes-of-nodes.
 */
export function computedClass(
  node: Pick<
    NodeRegistration,
    'Datacenter' | 'NodeClass' | 'NodePool' | 'Attributes' | 'Meta' | 'Drivers' | 'NodeResources'
  >,
): string {
  const drivers = Object.entries(node.Drivers).map(
    ([name, { Detected, Healthy }]) => [name, `${Detected}/${Healthy}`] as const,
  );
  const told = [
    node.Datacenter,
    node.NodeClass,
    node.NodePool,
    shared(node.Attributes),
    shared(node.Meta),
    drivers.sort(byName),
    ...devicesOf(node.NodeResources),
  ];
  return `v1:${createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 32)}`;
}

/** Makes of devices and their attributes. The number and state of instances may differ. */
function devicesOf({ Devices }: NodeRegistration['NodeResources']) {
  if (Devices.length === 0) return [];
  const devices = Devices.map((device) => [deviceKey(device), shared(device.Attributes)] as const);
  return [devices.sort(byName)];
}

const shared = (attributes: Readonly<Record<string, unknown>>) =>
  Object.entries(attributes)
    .filter(([name]) => !name.startsWith('unique.'))
    .sort(byName);

const byName = ([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number =>
  left < right ? -1 : 1;

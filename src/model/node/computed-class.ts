import { createHash } from 'node:crypto';
import type { NodeRegistration } from './node.ts';

/**
 * The same for nodes that no constraint can tell apart, unique attributes aside, so that what is
 * found out about one holds for all of them. Source: facts/scheduler.md §6.8.
 */
export function computedClass(
  node: Pick<
    NodeRegistration,
    'Datacenter' | 'NodeClass' | 'NodePool' | 'Attributes' | 'Meta' | 'Drivers'
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
  ];
  return `v1:${createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 32)}`;
}

const shared = (attributes: Readonly<Record<string, string>>) =>
  Object.entries(attributes)
    .filter(([name]) => !name.startsWith('unique.'))
    .sort(byName);

const byName = ([left]: readonly [string, string], [right]: readonly [string, string]): number =>
  left < right ? -1 : 1;

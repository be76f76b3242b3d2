/**
 * Reads the target of a constraint, an affinity or a spread on a node.
 * Source: docs/behaviour/scheduling.md#comparisons.
 */
import type { Node } from '../../model/node/node.ts';

/** The target's value on a node; `undefined`: the node lacks it. */
export type Reader = (node: Node) => string | undefined;

const reference = /^\$\{([^}]*)\}$/;

const nodeReaders: Readonly<Record<string, Reader>> = {
  'node.unique.id': (node) => node.ID,
  'node.unique.name': (node) => node.Name,
  'node.datacenter': (node) => node.Datacenter,
  'node.class': (node) => node.NodeClass,
  'node.pool': (node) => node.NodePool,
};

/** Text without `${…}` stands for itself; an unknown reference has no value on any node. */
export function compileTarget(target: string): Reader {
  const name = reference.exec(target.trim())?.[1]?.trim();
  if (name === undefined) return () => target;
  if (Object.hasOwn(nodeReaders, name)) return nodeReaders[name]!;
  if (name.startsWith('attr.')) return fromMap('Attributes', name.slice('attr.'.length));
  if (name.startsWith('meta.')) return fromMap('Meta', name.slice('meta.'.length));
  return () => undefined;
}

const fromMap =
  (field: 'Attributes' | 'Meta', key: string): Reader =>
  (node) =>
    Object.hasOwn(node[field], key) ? node[field][key] : undefined;

/** Whether nodes of one computed class may differ in the target. */
export const isUnique = (target: string): boolean =>
  /^\s*\$\{\s*(node|attr|meta)\.unique\./.test(target);

/** Whether every node has a different value. */
export const isOfNodeAlone = (target: string): boolean =>
  /^\s*\$\{\s*node\.unique\.id\s*\}\s*$/.test(target);

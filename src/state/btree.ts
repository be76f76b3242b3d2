import Module from 'sorted-btree';
import bulk from 'sorted-btree/extended/bulkLoad.js';

type Constructor = typeof Module.default;

export type Tree<V> = InstanceType<typeof Module.default<string, V>>;

/**
 * The package is CommonJS and its class is an export named `default`: Node and esbuild give the
 * exports as the default import, vitest has already unwrapped them.
 */
const exported: Constructor | { readonly default: Constructor } = Module;
const SortedTree = 'default' in exported ? exported.default : exported;

const { bulkLoad } = bulk;
const nodeSizeMax = 32;

/** A sorted map from text to `V`, ordered by UTF-16 code units, with a `clone()` in O(1). */
export function tree<V>(): Tree<V> {
  return new SortedTree<string, V>(undefined, compareText, nodeSizeMax);
}

/** The same of keys that ascend strictly, in O(n). `rows` are in the order of the keys. */
export const treeOf = <V>(keys: string[], rows: V[]): Tree<V> =>
  keys.length === 0 ? tree() : bulkLoad(keys, rows, nodeSizeMax, compareText);

export function compareText(left: string, right: string): number {
  return left < right ? -1 : left === right ? 0 : 1;
}

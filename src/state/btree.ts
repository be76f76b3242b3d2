import Module from 'sorted-btree';

type Constructor = typeof Module.default;

export type Tree<V> = InstanceType<typeof Module.default<string, V>>;

/**
 * The package is CommonJS and its class is an export named `default`: Node and esbuild give the
 * exports as the default import, vitest has already unwrapped them.
 */
const exported: Constructor | { readonly default: Constructor } = Module;
const SortedTree = 'default' in exported ? exported.default : exported;

/** A sorted map from text to `V`, ordered by UTF-16 code units, with a `clone()` in O(1). */
export function tree<V>(): Tree<V> {
  return new SortedTree<string, V>(undefined, compare);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left === right ? 0 : 1;
}

import { assert } from '../base/assert.ts';
import {
  Branch,
  childAt,
  itemsWith,
  itemsWithout,
  joined,
  Leaf,
  leaves,
  leavesReversed,
  type Node,
  type Owner,
  type OwnItems,
  partOf,
  placeOf,
  sizeOf,
  type Take,
  visitBelow,
} from './tree-nodes.ts';

/** Greatest number of values or children of a node. Not in limits: it only decides about speed. */
const nodeSizeMax = 16;
/** A node with fewer items is joined with a neighbour. */
const nodeSizeMin = nodeSizeMax / 4;
/** Number of items in the nodes of a tree that is made of sorted keys. */
const nodeSizeMade = (nodeSizeMax * 3) / 4;

/** The right half of a node that was split: its items from `key` on. */
interface Right<V> {
  readonly key: string;
  readonly node: Node<V>;
}

/**
 * A sorted map from text to values, ordered by UTF-16 code units, whose clones cost O(1): a B+ tree
 * that copies a path when it is changed.
 *
 * Each commit makes a view, and the nodes that the next commit copies are garbage soon after. To copy
 * little, arrays are as long as their content, and replacing a value or a child leaves the keys
 * alone. Arrays with spare room make twice as much garbage.
 *
 * Invariants
 *  T1. Only the owner of a node changes it in place, and no other tree has the node. The nodes above
 *      it have the same owner. `clone` gives both trees new owners, so that they share all nodes.
 *  T2. A node has its values and children for itself. It may share its keys with copies of it, so
 *      keys are replaced and never changed.
 *  T3. All leaves are equally deep. The root may be a leaf of any size, or has at least two
 *      children. Every other node has `nodeSizeMin` to `nodeSizeMax` items.
 *  T4. `#lastLeaf` is a leaf of this tree. As long as it has the present owner and room, the keys from its first key on
 *      and below `#lastEnd` are put into it without a walk: the next key is often a neighbour.
 *  T5. A set has its keys as values, and each of its leaves has one array for both.
 */
export class Tree<V> {
  #root: Node<V>;
  #size: number;
  #owner: Owner;
  /** The right half of the node below, if it was split. */
  #right: Right<V> | undefined;
  /** The new key that was put last. */
  #lastKey: string | undefined;
  /** The leaf that was changed last. T4. */
  #lastLeaf: Leaf<V> | undefined;
  /** The key of the next leaf, below which keys of `#lastLeaf` lie; `undefined`: there is none. */
  #lastEnd: string | undefined;

  private constructor(root: Node<V>, size: number, owner: Owner = {}) {
    this.#root = root;
    this.#size = size;
    this.#owner = owner;
  }

  static empty<V>(owner?: Owner): Tree<V> {
    return new Tree<V>(new Leaf<V>({}, [], []), 0, owner);
  }

  /** An empty set of keys. */
  static emptySet(owner?: Owner): Tree<string> {
    const none: string[] = [];
    return new Tree<string>(new Leaf<string>({}, none, none), 0, owner);
  }

  /** A set of strictly ascending keys. O(n). */
  static setOf(keys: readonly string[]): Tree<string> {
    return Tree.of(keys, keys);
  }

  /** A tree of strictly ascending keys and their values. O(n). */
  static of<V>(keys: readonly string[], values: readonly V[]): Tree<V> {
    const owner = {};
    let nodes: Node<V>[] = [];
    let least: string[] = [];
    for (const [from, to] of spans(keys.length)) {
      const part = partOf({ keys, values }, from, to);
      nodes.push(new Leaf(owner, part.keys, part.values));
      least.push(keys[from]!);
    }
    while (nodes.length > 1) {
      const above = spans(nodes.length);
      const branches = above.map(
        ([from, to]) => new Branch(owner, least.slice(from + 1, to), nodes.slice(from, to)),
      );
      least = above.map(([from]) => least[from]!);
      nodes = branches;
    }
    return nodes.length === 0 ? Tree.empty() : new Tree(nodes[0]!, keys.length);
  }

  clone(): Tree<V> {
    this.#owner = {};
    return new Tree(this.#root, this.#size);
  }

  /** A clone for an owner of several trees. The tree itself must not be changed again. */
  cloneFor(owner: Owner): Tree<V> {
    return new Tree(this.#root, this.#size, owner);
  }

  isOwnedBy(owner: Owner): boolean {
    return this.#owner === owner;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    let node = this.#root;
    while (node.children !== undefined) node = node.children[childAt(node.keys, key)]!;
    const at = placeOf(node.keys, key);
    return node.keys[at] === key ? node.values[at] : undefined;
  }

  /**
   * Gets the values of keys, one after the other: that of a neighbour at little cost. It goes on with the nodes that are
   * there now, as an iteration does: once there is a clone, changes leave them alone.
   */
  finder(): (key: string) => V | undefined {
    const root = this.#root;
    let items: OwnItems<V> | undefined;
    let end: string | undefined;
    let at = 0;
    return (key) => {
      if (items === undefined || key < items.keys[0]! || (end !== undefined && key >= end)) {
        end = undefined;
        let node = root;
        while (node.children !== undefined) {
          const child = childAt(node.keys, key);
          if (child < node.keys.length) end = node.keys[child];
          node = node.children[child]!;
        }
        items = { keys: node.keys, values: node.values };
        at = placeOf(items.keys, key);
      } else if (items.keys[++at] !== key) at = placeOf(items.keys, key);
      return items.keys[at] === key ? items.values[at] : undefined;
    };
  }

  leastKey(): string | undefined {
    let node = this.#root;
    while (node.children !== undefined) node = node.children[0]!;
    return node.keys[0];
  }

  greatestKey(): string | undefined {
    let node = this.#root;
    while (node.children !== undefined) node = node.children.at(-1)!;
    return node.keys.at(-1);
  }

  /** Values of the keys from `least` on and below `end`. The tree must not be changed meanwhile. */
  *values(least = '', end?: string): IterableIterator<V> {
    for (const { keys, values } of leaves(this.#root, least)) {
      const isLast = end !== undefined && keys.at(-1)! >= end;
      const to = isLast ? placeOf(keys, end) : keys.length;
      for (let at = placeOf(keys, least); at < to; at++) yield values[at]!;
      if (isLast) return;
    }
  }

  /** The values of {@link values}, the greatest key first. */
  *valuesReversed(least = '', end?: string): IterableIterator<V> {
    for (const { keys, values } of leavesReversed(this.#root, end)) {
      const isLast = keys[0]! < least;
      const from = isLast ? placeOf(keys, least) : 0;
      const to = end === undefined ? keys.length : placeOf(keys, end);
      for (let at = to - 1; at >= from; at--) yield values[at]!;
      if (isLast) return;
    }
  }

  /** The keys of {@link values}, with their values. */
  *entries(least = '', end?: string): IterableIterator<[string, V]> {
    for (const { keys, values } of leaves(this.#root, least)) {
      for (let at = placeOf(keys, least); at < keys.length; at++) {
        if (end !== undefined && keys[at]! >= end) return;
        yield [keys[at]!, values[at]!];
      }
    }
  }

  /** The {@link entries}, the greatest key first. */
  *entriesReversed(least = '', end?: string): IterableIterator<[string, V]> {
    for (const { keys, values } of leavesReversed(this.#root, end)) {
      const to = end === undefined ? keys.length : placeOf(keys, end);
      for (let at = to - 1; at >= 0; at--) {
        if (keys[at]! < least) return;
        yield [keys[at]!, values[at]!];
      }
    }
  }

  /**
   * Visits the keys of {@link values} with their values until `take` returns `false`. Returns whether it visited all.
   * Where few are visited, it costs a part of an iteration.
   */
  visit(least: string, end: string | undefined, take: Take<V>): boolean {
    return visitBelow(this.#root, least, end, take) !== 'stopped';
  }

  /** The greatest key that is not above the text. */
  floorKey(text: string): string | undefined {
    let node = this.#root;
    let below: Node<V> | undefined;
    while (node.children !== undefined) {
      const at = childAt(node.keys, text);
      if (at > 0) below = node.children[at - 1];
      node = node.children[at]!;
    }
    const at = placeOf(node.keys, text);
    if (node.keys[at] === text) return text;
    if (at > 0) return node.keys[at - 1];
    while (below?.children !== undefined) below = below.children.at(-1);
    return below?.keys.at(-1);
  }

  set(key: string, value: V): void {
    if (this.#setInLast(key, value)) return;
    this.#lastEnd = undefined;
    const node = this.#putBelow(this.#root, key, value);
    const right = this.#takeRight();
    this.#root =
      right === undefined ? node : new Branch(this.#owner, [right.key], [node, right.node]);
  }

  /** T4. Returns whether it could. */
  #setInLast(key: string, value: V): boolean {
    const leaf = this.#lastLeaf;
    if (leaf === undefined || leaf.owner !== this.#owner) return false;
    const { keys } = leaf;
    if (keys.length >= nodeSizeMax || key < keys[0]!) return false;
    if (this.#lastEnd !== undefined && key >= this.#lastEnd) return false;
    this.#putInLeaf(leaf, key, value);
    return true;
  }

  /** Returns whether the key was there. */
  delete(key: string): boolean {
    if (this.get(key) === undefined) return false;
    this.#lastLeaf = undefined;
    const root = this.#deleteBelow(this.#root, key);
    this.#root = root.children?.length === 1 ? root.children[0]! : root;
    this.#size--;
    return true;
  }

  #putBelow(node: Node<V>, key: string, value: V): Node<V> {
    if (node.children === undefined) return this.#putInLeaf(node, key, value);
    const { keys, children } = node;
    const at = childAt(keys, key);
    const before = children[at]!;
    if (at < keys.length) this.#lastEnd = keys[at];
    const child = this.#putBelow(before, key, value);
    const right = this.#takeRight();
    if (right !== undefined) {
      return this.#branch(
        node,
        keys.toSpliced(at, 0, right.key),
        children.toSpliced(at, 1, child, right.node),
      );
    }
    return child === before ? node : this.#replaceChild(node, at, child);
  }

  #replaceChild(branch: Branch<V>, at: number, child: Node<V>): Branch<V> {
    const { owner, keys, children } = branch;
    if (owner !== this.#owner) return new Branch(this.#owner, keys, children.with(at, child));
    children[at] = child;
    return branch;
  }

  #putInLeaf(leaf: Leaf<V>, key: string, value: V): Leaf<V> {
    const changed = this.#leafWith(leaf, key, value);
    this.#lastLeaf = this.#right === undefined ? changed : undefined;
    return changed;
  }

  #leafWith(leaf: Leaf<V>, key: string, value: V): Leaf<V> {
    const { keys, values } = leaf;
    const at = placeOf(keys, key);
    if (keys[at] === key) {
      if ((keys as readonly unknown[]) === values) return leaf;
      if (leaf.owner !== this.#owner) return new Leaf(this.#owner, keys, values.with(at, value));
      values[at] = value;
      return leaf;
    }
    this.#size++;
    // Where keys come in ascending order, the left half of a leaf gets no more of them, so it should be nearly full.
    const half = at > nodeSizeMade && keys[at - 1] === this.#lastKey ? nodeSizeMade : undefined;
    this.#lastKey = key;
    return this.#leaf(leaf, itemsWith(leaf, at, { key, value }), half);
  }

  /** The node without the key, which it holds. The result may have too few items. */
  #deleteBelow(node: Node<V>, key: string): Node<V> {
    if (node.children === undefined) {
      const at = placeOf(node.keys, key);
      return this.#leaf(node, itemsWithout(node, at));
    }
    const { keys, children } = node;
    const at = childAt(keys, key);
    const before = children[at]!;
    const child = this.#deleteBelow(before, key);
    if (sizeOf(child) < nodeSizeMin) return this.#mergeChild(node, at, child);
    return child === before ? node : this.#replaceChild(node, at, child);
  }

  /** The branch with `child` at this position, joined with a neighbour or filled up from it. */
  #mergeChild(branch: Branch<V>, at: number, child: Node<V>): Branch<V> {
    const children = branch.children.with(at, child);
    const from = at === 0 ? 0 : at - 1;
    const [left, other] = [children[from]!, children[from + 1]!];
    const joined = this.#joinNodes(left, branch.keys[from]!, other);
    const right = this.#takeRight();
    return right === undefined
      ? this.#branch(branch, branch.keys.toSpliced(from, 1), children.toSpliced(from, 2, joined))
      : this.#branch(
          branch,
          branch.keys.with(from, right.key),
          children.toSpliced(from, 2, joined, right.node),
        );
  }

  #joinNodes(left: Node<V>, between: string, right: Node<V>): Node<V> {
    if (left.children === undefined) {
      assert(right.children === undefined, 'neighbours are equally deep');
      return this.#leaf(left, joined(left, right));
    }
    assert(right.children !== undefined, 'neighbours are equally deep');
    const keys = [...left.keys, between, ...right.keys];
    return this.#branch(left, keys, [...left.children, ...right.children]);
  }

  /** The leaf with these items. If they are too many for a leaf, `#right` gets those from the position `half` on. */
  #leaf(leaf: Leaf<V>, items: OwnItems<V>, half = items.keys.length >> 1): Leaf<V> {
    const { keys, values } = items;
    if (keys.length > nodeSizeMax) {
      const right = partOf(items, half, keys.length);
      this.#right = { key: keys[half]!, node: new Leaf(this.#owner, right.keys, right.values) };
      return this.#leaf(leaf, partOf(items, 0, half));
    }
    if (leaf.owner !== this.#owner) return new Leaf(this.#owner, keys, values);
    leaf.keys = keys;
    leaf.values = values;
    return leaf;
  }

  /** The branch with these items. If they are too many for a branch, `#right` gets the second half. */
  #branch(branch: Branch<V>, keys: readonly string[], children: Node<V>[]): Branch<V> {
    if (children.length > nodeSizeMax) {
      const half = children.length >> 1;
      const right = new Branch(this.#owner, keys.slice(half), children.slice(half));
      this.#right = { key: keys[half - 1]!, node: right };
      return this.#branch(branch, keys.slice(0, half - 1), children.slice(0, half));
    }
    if (branch.owner !== this.#owner) return new Branch(this.#owner, keys, children);
    branch.keys = keys;
    branch.children = children;
    return branch;
  }

  #takeRight(): Right<V> | undefined {
    const right = this.#right;
    this.#right = undefined;
    return right;
  }
}

/** Divides a length into parts of about `nodeSizeMade`. */
function spans(length: number): [from: number, to: number][] {
  const count = Math.ceil(length / nodeSizeMade);
  const found: [number, number][] = [];
  for (let at = 0; at < count; at++) {
    found.push([Math.floor((at * length) / count), Math.floor(((at + 1) * length) / count)]);
  }
  return found;
}

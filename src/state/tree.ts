import { assert } from '../base/assert.ts';

/** Values or children of one node, at most. */
const nodeSizeMax = 16;
/** A node with fewer is joined with a neighbour. */
const nodeSizeMin = nodeSizeMax / 4;
/** What a node of a tree that is made of sorted keys is filled with. */
const nodeSizeMade = (nodeSizeMax * 3) / 4;

/** Held by the tree that alone may change a node in place. */
type Owner = object;

class Leaf<V> {
  readonly owner: Owner;
  keys: readonly string[];
  values: V[];
  /** What tells it from a branch. */
  readonly children = undefined;

  constructor(owner: Owner, keys: readonly string[], values: V[]) {
    this.owner = owner;
    this.keys = keys;
    this.values = values;
  }
}

class Branch<V> {
  readonly owner: Owner;
  /** One fewer than children: what is under `children[i + 1]` is not less than `keys[i]`. */
  keys: readonly string[];
  children: Node<V>[];

  constructor(owner: Owner, keys: readonly string[], children: Node<V>[]) {
    this.owner = owner;
    this.keys = keys;
    this.children = children;
  }
}

type Node<V> = Leaf<V> | Branch<V>;

/** What was too much for one node: all that is not less than the key. */
interface Right<V> {
  readonly key: string;
  readonly node: Node<V>;
}

/**
 * A sorted map from text to values, ordered by UTF-16 code units, whose clones cost O(1): a B+ tree
 * that copies a path when it is changed.
 *
 * Each commit makes a view, and what the next one copies for itself is garbage soon after. So little
 * is copied: arrays have the length that they need and no more, and what replaces a value or a child
 * leaves the keys as they are. A tree that keeps room in its arrays makes twice as much.
 *
 * Invariants
 *  T1. A node is changed in place by its owner alone; no other tree has it. All above such a node
 *      have the same owner. `clone` gives both trees new owners, so that all nodes are shared then.
 *  T2. The values and children of a node are its alone, keys may be those of its copies, too: they
 *      are replaced and never changed.
 *  T3. All leaves are equally deep. But for the root, a node has `nodeSizeMin` to `nodeSizeMax`
 *      items, a branch that is the root at least two.
 */
export class Tree<V> {
  #root: Node<V>;
  #size: number;
  #owner: Owner = {};
  /** What came out of the node below, if it had to be split. */
  #right: Right<V> | undefined;

  private constructor(root: Node<V>, size: number) {
    this.#root = root;
    this.#size = size;
  }

  static empty<V>(): Tree<V> {
    return new Tree<V>(new Leaf<V>({}, [], []), 0);
  }

  /** Of keys that ascend strictly and their values. O(n). */
  static of<V>(keys: readonly string[], values: readonly V[]): Tree<V> {
    const owner = {};
    let nodes: Node<V>[] = [];
    let least: string[] = [];
    for (const [from, to] of spans(keys.length)) {
      nodes.push(new Leaf(owner, keys.slice(from, to), values.slice(from, to)));
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

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    let node = this.#root;
    while (node.children !== undefined) node = node.children[childAt(node.keys, key)]!;
    const at = placeOf(node.keys, key);
    return node.keys[at] === key ? node.values[at] : undefined;
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

  /** Values of the keys from `least` on and below `end`. Not to be mixed with changes. */
  *values(least = '', end?: string): IterableIterator<V> {
    for (const { keys, values } of leaves(this.#root, least)) {
      const isLast = end !== undefined && keys.at(-1)! >= end;
      const to = isLast ? placeOf(keys, end) : keys.length;
      for (let at = placeOf(keys, least); at < to; at++) yield values[at]!;
      if (isLast) return;
    }
  }

  /** The same, the greatest key first. */
  *valuesReversed(least = '', end?: string): IterableIterator<V> {
    for (const { keys, values } of leavesReversed(this.#root, end)) {
      const isLast = keys[0]! < least;
      const from = isLast ? placeOf(keys, least) : 0;
      const to = end === undefined ? keys.length : placeOf(keys, end);
      for (let at = to - 1; at >= from; at--) yield values[at]!;
      if (isLast) return;
    }
  }

  *entries(): IterableIterator<[string, V]> {
    for (const { keys, values } of leaves(this.#root, '')) {
      for (const [at, key] of keys.entries()) yield [key, values[at]!];
    }
  }

  set(key: string, value: V): void {
    const node = this.#put(this.#root, key, value);
    const right = this.#taken();
    this.#root =
      right === undefined ? node : new Branch(this.#owner, [right.key], [node, right.node]);
  }

  /** Whether it was there. */
  delete(key: string): boolean {
    if (this.get(key) === undefined) return false;
    const root = this.#without(this.#root, key);
    this.#root = root.children?.length === 1 ? root.children[0]! : root;
    this.#size--;
    return true;
  }

  #put(node: Node<V>, key: string, value: V): Node<V> {
    if (node.children === undefined) return this.#putInLeaf(node, key, value);
    const { keys, children } = node;
    const at = childAt(keys, key);
    const before = children[at]!;
    const child = this.#put(before, key, value);
    const right = this.#taken();
    if (right !== undefined) {
      return this.#branch(
        node,
        keys.toSpliced(at, 0, right.key),
        children.toSpliced(at, 1, child, right.node),
      );
    }
    return child === before ? node : this.#replaced(node, at, child);
  }

  #replaced(branch: Branch<V>, at: number, child: Node<V>): Branch<V> {
    const { owner, keys, children } = branch;
    if (owner !== this.#owner) return new Branch(this.#owner, keys, children.with(at, child));
    children[at] = child;
    return branch;
  }

  #putInLeaf(leaf: Leaf<V>, key: string, value: V): Leaf<V> {
    const { keys, values } = leaf;
    const at = placeOf(keys, key);
    if (keys[at] === key) {
      if (leaf.owner !== this.#owner) return new Leaf(this.#owner, keys, values.with(at, value));
      values[at] = value;
      return leaf;
    }
    this.#size++;
    return this.#leaf(leaf, keys.toSpliced(at, 0, key), values.toSpliced(at, 0, value));
  }

  /** The node without the key, which is there. It may have too few items. */
  #without(node: Node<V>, key: string): Node<V> {
    if (node.children === undefined) {
      const at = placeOf(node.keys, key);
      return this.#leaf(node, node.keys.toSpliced(at, 1), node.values.toSpliced(at, 1));
    }
    const { keys, children } = node;
    const at = childAt(keys, key);
    const before = children[at]!;
    const child = this.#without(before, key);
    if (sizeOf(child) < nodeSizeMin) return this.#joined(node, at, child);
    return child === before ? node : this.#replaced(node, at, child);
  }

  /** The branch, whose child there is `child` now, with that and a neighbour made one, or even. */
  #joined(branch: Branch<V>, at: number, child: Node<V>): Branch<V> {
    const children = branch.children.with(at, child);
    const from = at === 0 ? 0 : at - 1;
    const [left, other] = [children[from]!, children[from + 1]!];
    const joined = this.#join(left, branch.keys[from]!, other);
    const right = this.#taken();
    return right === undefined
      ? this.#branch(branch, branch.keys.toSpliced(from, 1), children.toSpliced(from, 2, joined))
      : this.#branch(
          branch,
          branch.keys.with(from, right.key),
          children.toSpliced(from, 2, joined, right.node),
        );
  }

  #join(left: Node<V>, between: string, right: Node<V>): Node<V> {
    if (left.children === undefined) {
      assert(right.children === undefined, 'neighbours are equally deep');
      return this.#leaf(left, [...left.keys, ...right.keys], [...left.values, ...right.values]);
    }
    assert(right.children !== undefined, 'neighbours are equally deep');
    const keys = [...left.keys, between, ...right.keys];
    return this.#branch(left, keys, [...left.children, ...right.children]);
  }

  /** The leaf with these in place of what it holds; what is too much for it is in `#right`. */
  #leaf(leaf: Leaf<V>, keys: readonly string[], values: V[]): Leaf<V> {
    if (keys.length > nodeSizeMax) {
      const half = keys.length >> 1;
      const right = new Leaf(this.#owner, keys.slice(half), values.slice(half));
      this.#right = { key: keys[half]!, node: right };
      return this.#leaf(leaf, keys.slice(0, half), values.slice(0, half));
    }
    if (leaf.owner !== this.#owner) return new Leaf(this.#owner, keys, values);
    leaf.keys = keys;
    leaf.values = values;
    return leaf;
  }

  /** The same of a branch. */
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

  #taken(): Right<V> | undefined {
    const right = this.#right;
    this.#right = undefined;
    return right;
  }
}

/** Where the key is, or would be: the number of keys below it. */
function placeOf(keys: readonly string[], key: string): number {
  let from = 0;
  let to = keys.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (keys[middle]! < key) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Under which child of a branch the key is, or would be: the number of keys not above it. */
function childAt(keys: readonly string[], key: string): number {
  const at = placeOf(keys, key);
  return keys[at] === key ? at + 1 : at;
}

const sizeOf = <V>({ keys, children }: Node<V>): number => (children ?? keys).length;

/** Leaves in their order, from the one of the key on. */
function* leaves<V>(node: Node<V>, least: string): IterableIterator<Leaf<V>> {
  if (node.children === undefined) yield node;
  else {
    const { keys, children } = node;
    for (let at = childAt(keys, least); at < children.length; at++) {
      yield* leaves(children[at]!, least);
    }
  }
}

/** Leaves from the last or that of the key, backwards. */
function* leavesReversed<V>(node: Node<V>, from: string | undefined): IterableIterator<Leaf<V>> {
  if (node.children === undefined) yield node;
  else {
    const { keys, children } = node;
    const last = from === undefined ? keys.length : childAt(keys, from);
    for (let at = last; at >= 0; at--) yield* leavesReversed(children[at]!, from);
  }
}

/** From and to of parts of about the same length. */
function spans(length: number): [from: number, to: number][] {
  const count = Math.ceil(length / nodeSizeMade);
  const found: [number, number][] = [];
  for (let at = 0; at < count; at++) {
    found.push([Math.floor((at * length) / count), Math.floor(((at + 1) * length) / count)]);
  }
  return found;
}

import { type Grant, grantsOf, type Policy } from './grants.ts';
import { NameIndex } from './name-index.ts';
import { labelOf, nearness, type Pattern } from './pattern.ts';

/** The grants of one resource that speak for the same namespaces and partitions. */
interface Scope {
  /** 0: the token's own; -1: what its namespace gives where those say nothing. */
  readonly layer: number;
  readonly partitions: Pattern;
  readonly namespaces: Pattern;
  readonly grants: Grant[];
}

/** The indexes that speak for one place, nearest first. */
export type View = readonly NameIndex[];

const noView: View = [];
const viewsMax = 1024;

/**
 * The rules of a set of policies, ready to be asked.
 *
 * Invariants
 *  T1. A place (partition, namespace) is seen through the scopes that fit it, nearest first: what
 *      is the token's own is nearer than what its namespace gives, and the partition weighs more
 *      than the namespace. Scopes that are equally near are one.
 *  T2. The nearest scope that has a rule for the name decides; the others are not asked.
 *  T3. Indexes are made when they are first asked for, once for each set of scopes, not for each
 *      place; what is remembered of places is bounded.
 */
export class RuleTable {
  readonly #resources = new Map<string, ResourceRules>();

  /**
   * `defaults` count only where the others say nothing.
   * Source: docs/behaviour/access-control.md#namespaces-and-partitions.
   */
  constructor(policies: readonly Policy[], defaults: readonly Policy[] = []) {
    for (const [layer, some] of [policies, defaults].entries()) {
      for (const grant of some.flatMap(grantsOf)) {
        const known = this.#resources.get(grant.resource) ?? new ResourceRules();
        this.#resources.set(grant.resource, known);
        known.add(grant, -layer);
      }
    }
  }

  view(resource: string, partition: string, namespace: string): View {
    return this.#resources.get(resource)?.view(partition, namespace) ?? noView;
  }
}

class ResourceRules {
  readonly #scopes: Scope[] = [];
  readonly #byLabel = new Map<string, Scope>();
  readonly #views = new Map<string, Map<string, View>>();
  readonly #indexes = new Map<string, NameIndex>();
  #viewCount = 0;

  /** Only before the first question. */
  add(grant: Grant, layer: number): void {
    const { partitions, namespaces } = grant;
    const label = `${layer}\0${labelOf(partitions)}\0${labelOf(namespaces)}`;
    const known = this.#byLabel.get(label);
    if (known !== undefined) {
      known.grants.push(grant);
      return;
    }
    const scope = { layer, partitions, namespaces, grants: [grant] };
    this.#byLabel.set(label, scope);
    this.#scopes.push(scope);
  }

  view(partition: string, namespace: string): View {
    const known = this.#views.get(partition)?.get(namespace);
    if (known !== undefined) return known;
    if (this.#viewCount >= viewsMax) {
      this.#views.clear();
      this.#viewCount = 0;
    }
    const view = this.#look(partition, namespace);
    const ofPartition = this.#views.get(partition) ?? new Map<string, View>();
    this.#views.set(partition, ofPartition.set(namespace, view));
    this.#viewCount++;
    return view;
  }

  #look(partition: string, namespace: string): View {
    const fitting = this.#scopes
      .map((scope, id) => {
        const { layer, partitions, namespaces } = scope;
        const near = [layer, nearness(partitions, partition), nearness(namespaces, namespace)];
        return { scope, id, near };
      })
      .filter(({ near }) => near[1]! >= 0 && near[2]! >= 0)
      .sort((left, right) => compare(right.near, left.near) || left.id - right.id);
    const view: NameIndex[] = [];
    for (let at = 0; at < fitting.length; ) {
      let end = at + 1;
      while (end < fitting.length && compare(fitting[at]!.near, fitting[end]!.near) === 0) end++;
      view.push(this.#index(fitting.slice(at, end)));
      at = end;
    }
    return view;
  }

  #index(scopes: readonly { readonly scope: Scope; readonly id: number }[]): NameIndex {
    const key = scopes.map(({ id }) => id).join();
    let index = this.#indexes.get(key);
    if (index === undefined) {
      index = new NameIndex(scopes.flatMap(({ scope }) => scope.grants));
      // Only globs make scopes equally near, so that the sets of them are few; still, a bound.
      if (this.#indexes.size >= viewsMax + this.#scopes.length) this.#indexes.clear();
      this.#indexes.set(key, index);
    }
    return index;
  }
}

/** Infinity minus Infinity is no number, hence no subtraction. */
function compare(left: readonly number[], right: readonly number[]): number {
  for (const [at, value] of left.entries()) {
    if (value !== right[at]) return value < right[at]! ? -1 : 1;
  }
  return 0;
}

import { type Grant, grantsOf, type Policy } from './grants.ts';
import { limits } from './limits.ts';
import { NameIndex } from './name-index.ts';
import { labelOf, nearness, type Pattern } from './pattern.ts';

/** The grants of one resource with the same namespaces and partitions. */
interface GrantScope {
  /**
   * 0: rules of the token; -1: defaults of its namespace, which apply where no rule of the token
   * does.
   */
  readonly layer: number;
  readonly partitions: Pattern;
  readonly namespaces: Pattern;
  readonly grants: Grant[];
}

/** The indexes that apply to a place, nearest first. */
export type View = readonly NameIndex[];

const noView: View = [];
/**
 * The rules of a set of policies, prepared for questions.
 *
 * Invariants
 *  T1. The scopes that match a place (partition, namespace) are ordered by nearness: rules of the
 *      token before defaults of its namespace, then by partition, then by namespace. Scopes at the
 *      same distance are joined.
 *  T2. The nearest scope with a rule for the name decides alone.
 *  T3. Each set of scopes has one index, made on first use, for all the places that it applies to.
 *      The cache of places is bounded.
 */
export class RuleTable {
  readonly #resources = new Map<string, ResourceRules>();

  /**
   * `defaults` apply only where no rule of `policies` does.
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
  readonly #scopes: GrantScope[] = [];
  readonly #byLabel = new Map<string, GrantScope>();
  readonly #views = new Map<string, Map<string, View>>();
  readonly #indexes = new Map<string, NameIndex>();
  #viewCount = 0;

  /** To be called before the first `view`. */
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
    if (this.#viewCount >= limits.viewsMax) {
      this.#views.clear();
      this.#viewCount = 0;
    }
    const view = this.#makeView(partition, namespace);
    const ofPartition = this.#views.get(partition) ?? new Map<string, View>();
    this.#views.set(partition, ofPartition.set(namespace, view));
    this.#viewCount++;
    return view;
  }

  #makeView(partition: string, namespace: string): View {
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

  #index(scopes: readonly { readonly scope: GrantScope; readonly id: number }[]): NameIndex {
    const key = scopes.map(({ id }) => id).join();
    let index = this.#indexes.get(key);
    if (index === undefined) {
      index = new NameIndex(scopes.flatMap(({ scope }) => scope.grants));
      // Only globs can be at the same distance, so these sets are few. The bound is a safeguard.
      if (this.#indexes.size >= limits.viewsMax + this.#scopes.length) this.#indexes.clear();
      this.#indexes.set(key, index);
    }
    return index;
  }
}

/** Compares without subtraction, because infinity minus infinity is not a number. */
function compare(left: readonly number[], right: readonly number[]): number {
  for (const [at, value] of left.entries()) {
    if (value !== right[at]) return value < right[at]! ? -1 : 1;
  }
  return 0;
}

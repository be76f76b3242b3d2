import { referencesOf } from '../hcl/references.ts';
import type { HclScope } from '../hcl/scope.ts';
import { suggestion } from '../hcl/suggest.ts';
import type { HclAttribute, HclBlock } from '../hcl/syntax.ts';
import { objectOf, type Value, type ValueObject } from '../hcl/value.ts';
import type { Reading } from './reading.ts';

/**
 * The values of all `locals { … }`, which may refer to each other in any order. A value that cannot be
 * evaluated is a fault, and so is a circle of references.
 */
export function readLocals(
  blocks: readonly HclBlock[],
  reading: Reading,
  scope: HclScope,
): ValueObject {
  const attributes = new Map<string, HclAttribute>();
  for (const block of blocks) {
    for (const { range } of block.labels) reading.fault(range, '"locals" takes no label');
    for (const item of block.body.items) {
      if (item.kind === 'block') {
        reading.fault(item.typeRange, '"locals" holds no blocks');
      } else if (attributes.has(item.name)) {
        reading.fault(item.nameRange, `There is a local "${item.name}" already`);
      } else {
        attributes.set(item.name, item);
      }
    }
  }
  reading.declare(attributes.keys());
  return new Locals(attributes, reading, scope).all();
}

class Locals {
  private readonly attributes: ReadonlyMap<string, HclAttribute>;
  private readonly reading: Reading;
  private readonly scope: HclScope;
  /** `failed`: a fault has been noted already. */
  private readonly found = new Map<string, { readonly value: Value } | 'failed'>();

  constructor(attributes: ReadonlyMap<string, HclAttribute>, reading: Reading, scope: HclScope) {
    this.attributes = attributes;
    this.reading = reading;
    this.scope = scope;
  }

  all(): ValueObject {
    for (const name of this.attributes.keys()) this.findValue(name);
    return this.valuesOf([...this.attributes.keys()]);
  }

  /** Follows references with a list, not by recursion, since a chain may be as long as the file. */
  private findValue(first: string): void {
    const path: { readonly name: string; readonly needs: readonly string[]; next: number }[] = [];
    const onPath = new Set<string>();
    const enter = (name: string) => {
      const needs = this.needsOf(name);
      if (needs === undefined) {
        this.found.set(name, 'failed');
        return;
      }
      path.push({ name, needs, next: 0 });
      onPath.add(name);
    };
    if (!this.found.has(first)) enter(first);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const need = top.needs[top.next++];
      if (need === undefined) {
        this.evaluate(top.name, top.needs);
        path.pop();
        onPath.delete(top.name);
      } else if (onPath.has(need)) {
        this.circle(
          path.map(({ name }) => name).slice(path.findIndex(({ name }) => name === need)),
        );
      } else if (!this.found.has(need)) {
        enter(need);
      }
    }
  }

  private evaluate(name: string, needs: readonly string[]): void {
    if (this.found.has(name)) return;
    if (needs.some((need) => this.found.get(need) === 'failed')) {
      this.found.set(name, 'failed');
      return;
    }
    const local = this.valuesOf(needs);
    const variables = new Map(this.scope.variables).set('local', local);
    const value = this.reading.value(this.attributes.get(name)!.value, {
      ...this.scope,
      variables,
    });
    this.found.set(name, value === undefined ? 'failed' : { value });
  }

  private valuesOf(names: readonly string[]): ValueObject {
    return objectOf(
      names.flatMap((name): (readonly [string, Value])[] => {
        const found = this.found.get(name);
        return found === undefined || found === 'failed' ? [] : [[name, found.value]];
      }),
    );
  }

  /** The locals to which this local refers; `undefined` after a fault. */
  private needsOf(name: string): readonly string[] | undefined {
    if (this.reading.isJson) return this.before(name);
    const needs = new Set<string>();
    for (const { name: root, attribute, range } of referencesOf(this.attributes.get(name)!)) {
      if (root !== 'local') continue;
      if (attribute === undefined) {
        this.reading.work(range, this.attributes.size);
        for (const other of this.attributes.keys()) if (other !== name) needs.add(other);
      } else if (this.attributes.has(attribute)) {
        needs.add(attribute);
      } else {
        const hint = suggestion(attribute, [...this.attributes.keys()]);
        this.reading.fault(range, `There is no local "${attribute.slice(0, 64)}"${hint}`);
        return undefined;
      }
    }
    return [...needs];
  }

  /** The locals before this local. In JSON, references are in strings, which are not parsed yet. */
  private before(name: string): readonly string[] {
    const names = [...this.attributes.keys()];
    this.reading.work(this.attributes.get(name)!.range, names.length);
    return names.slice(0, names.indexOf(name));
  }

  private circle(names: readonly string[]): void {
    for (const name of names) this.found.set(name, 'failed');
    const [first] = names;
    const around = [...names, first].slice(0, 20).join(' → ');
    const { nameRange } = this.attributes.get(first!)!;
    this.reading.fault(nameRange, `These locals need each other: ${around}`);
  }
}

import type { Range } from './source.ts';
import type { HclGetAttribute, HclIndex, HclNode } from './syntax.ts';
import { childrenOf } from './walk.ts';

/** A use of a variable of the scope: `local.image` is `local`, with the attribute `image`. */
export interface Reference {
  readonly name: string;
  /** `undefined` if the variable is used as a whole, or with a computed key. */
  readonly attribute: string | undefined;
  readonly range: Range;
}

/**
 * The outer references of a part of a text, without the names of its own `for`s. They determine the order in
 * which values that refer to each other are evaluated.
 */
export function referencesOf(node: HclNode): readonly Reference[] {
  const found: Reference[] = [];
  collect(node, new Set(), found);
  return found;
}

function collect(node: HclNode, bound: ReadonlySet<string>, found: Reference[]): void {
  switch (node.kind) {
    case 'variable':
      if (!bound.has(node.name)) {
        found.push({ name: node.name, attribute: undefined, range: node.range });
      }
      return;
    case 'get-attribute':
    case 'index':
      if (node.of.kind === 'variable') {
        const attribute = attributeOf(node);
        if (attribute !== undefined) {
          const { name } = node.of;
          if (!bound.has(name)) found.push({ name, attribute, range: node.range });
          return;
        }
      }
      break;
    case 'for':
    case 'for-directive': {
      collect(node.collection, bound, found);
      const inner = new Set(bound).add(node.valueName);
      if (node.keyName !== undefined) inner.add(node.keyName);
      for (const child of childrenOf(node)) {
        if (child !== node.collection) collect(child, inner, found);
      }
      return;
    }
  }
  for (const child of childrenOf(node)) collect(child, bound, found);
}

function attributeOf(node: HclGetAttribute | HclIndex): string | undefined {
  if (node.kind === 'get-attribute') return node.name;
  return node.key.kind === 'literal' && typeof node.key.value === 'string'
    ? node.key.value
    : undefined;
}

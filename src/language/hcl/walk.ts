import type { HclLimits } from './limits.ts';
import { tooDeep } from './reader.ts';
import type { Source } from './source.ts';
import type { HclNode } from './syntax.ts';

/** The children of a node, in the order of the text. */
export function childrenOf(node: HclNode): readonly HclNode[] {
  switch (node.kind) {
    case 'body':
      return node.items;
    case 'attribute':
      return [node.value];
    case 'block':
      return [...node.labels, node.body];
    case 'label':
    case 'literal':
    case 'variable':
    case 'splat-item':
    case 'text':
      return [];
    case 'template':
      return node.parts;
    case 'interpolation':
      return [node.expression];
    case 'if-directive':
      return [node.condition, ...node.whenTrue, ...node.whenFalse];
    case 'for-directive':
      return [node.collection, ...node.parts];
    case 'get-attribute':
      return [node.of];
    case 'index':
      return [node.of, node.key];
    case 'splat':
      return [node.of, node.item];
    case 'tuple':
      return node.items;
    case 'object':
      return node.entries;
    case 'entry':
      return [node.key, node.value];
    case 'for':
      return [node.collection, node.key, node.value, node.condition].filter(isGiven);
    case 'call':
      return node.arguments;
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'conditional':
      return [node.condition, node.whenTrue, node.whenFalse];
    case 'parentheses':
      return [node.inner];
  }
}

const isGiven = <T>(value: T | undefined): value is T => value !== undefined;

/** A level of brackets adds a few nodes, and each operator of a chain adds a node. */
const heightPerDepth = 8;

/**
 * Refuses trees that are too high for recursion. The parser bounds brackets while it reads them. The height
 * of a chain such as `a + a + …` is only known at its end.
 */
export function checkHeight(source: Source, limits: HclLimits, root: HclNode): void {
  const most = limits.depthMax * heightPerDepth;
  let level: readonly HclNode[] = [root];
  for (let height = 0; level.length > 0; height++) {
    if (height > most) throw tooDeep(source, limits, level[0]!.range.start.offset);
    const next: HclNode[] = [];
    for (const node of level) for (const child of childrenOf(node)) next.push(child);
    level = next;
  }
}

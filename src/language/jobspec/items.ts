import { textOf } from '../hcl/convert.ts';
import type { HclScope } from '../hcl/scope.ts';
import type {
  HclAttribute,
  HclBlock,
  HclBody,
  HclExpression,
  HclItem,
  HclLabel,
} from '../hcl/syntax.ts';
import { isObject, itemsOf, keysOf, objectOf, type Value, ValueSet } from '../hcl/value.ts';
import type { Reading } from './reading.ts';

/** An item of a body, with the scope of its expressions. */
export interface ScopedItem {
  readonly item: HclItem;
  readonly scope: HclScope;
}

/**
 * The items of a body, with the blocks that its `dynamic` blocks make instead of themselves:
 *
 *     dynamic "port" { for_each = var.ports, iterator = each, labels = [each.key], content { … } }
 */
export class Items {
  private readonly reading: Reading;
  private made = 0;

  constructor(reading: Reading) {
    this.reading = reading;
  }

  of(body: HclBody, scope: HclScope): readonly ScopedItem[] {
    if (!body.items.some(isDynamic)) return body.items.map((item) => ({ item, scope }));
    return body.items.flatMap((item) =>
      isDynamic(item) ? this.expanded(item, scope) : [{ item, scope }],
    );
  }

  private expanded(block: HclBlock, scope: HclScope): readonly ScopedItem[] {
    const parts = this.partsOf(block);
    if (parts === undefined) return [];
    const { type, forEach, iterator, labels, content } = parts;
    const rounds = this.rounds(forEach, scope);
    return rounds.flatMap(([key, value]) => {
      this.countBlock(block);
      const each = objectOf([
        ['key', key],
        ['value', value],
      ]);
      const inner = { ...scope, variables: new Map(scope.variables).set(iterator, each) };
      const made: HclBlock = {
        kind: 'block',
        type: type.text,
        typeRange: type.range,
        labels: labels === undefined ? [] : this.labels(labels, inner),
        body: content.body,
        range: block.range,
      };
      return [{ item: made, scope: inner }];
    });
  }

  private countBlock(block: HclBlock): void {
    const { blocksMax } = this.reading.limits;
    if (++this.made <= blocksMax) return;
    throw this.reading.source.error(
      `"dynamic" makes more than ${blocksMax} blocks in this file`,
      block.range.start.offset,
    );
  }

  /** The key and value of each block that is made. */
  private rounds(
    expression: HclExpression,
    scope: HclScope,
  ): readonly (readonly [key: Value, value: Value])[] {
    const over = this.reading.value(expression, scope);
    if (over === undefined) return [];
    if (over instanceof ValueSet) return over.items.map((item) => [item, item]);
    const items = itemsOf(over);
    if (items !== undefined) return items.map((item, index) => [index, item]);
    if (isObject(over)) return keysOf(over).map((key) => [key, over[key]!]);
    this.reading.fault(expression.range, '"for_each" needs a list, a set or an object');
    return [];
  }

  private labels(expression: HclExpression, scope: HclScope): readonly HclLabel[] {
    const value = this.reading.value(expression, scope);
    if (value === undefined) return [];
    const items = itemsOf(value);
    if (items?.every((item) => item !== null && typeof item !== 'object')) {
      const { range } = expression;
      return items.map((item) => ({ kind: 'label', text: textOf(item), quoted: true, range }));
    }
    this.reading.fault(expression.range, '"labels" needs a list of strings');
    return [];
  }

  private partsOf(block: HclBlock) {
    const { reading } = this;
    const [type, extra] = block.labels;
    if (type === undefined || extra !== undefined) {
      const sentence = '"dynamic" needs the type of its blocks: dynamic "port" { … }';
      reading.fault((extra ?? block).range, sentence);
      return undefined;
    }
    const attributes = new Map<string, HclAttribute>();
    let content: HclBlock | undefined;
    for (const item of block.body.items) {
      if (item.kind === 'attribute' && known.includes(item.name)) attributes.set(item.name, item);
      else if (item.kind === 'block' && item.type === 'content' && content === undefined) {
        content = item;
      } else {
        const name = item.kind === 'block' ? item.type : item.name;
        const sentence = `A "dynamic" block holds ${known.join(', ')} and one content { … }, not "${name}"`;
        reading.fault(item.range, sentence);
      }
    }
    const forEach = attributes.get('for_each')?.value;
    if (forEach === undefined) reading.fault(block.typeRange, '"dynamic" needs for_each');
    if (content === undefined) reading.fault(block.typeRange, '"dynamic" needs content { … }');
    const iterator = this.iterator(attributes.get('iterator'), type.text);
    if (forEach === undefined || content === undefined || iterator === undefined) return undefined;
    return { type, forEach, iterator, labels: attributes.get('labels')?.value, content };
  }

  /** The name of the iterator, which may be bare or in quotes. */
  private iterator(attribute: HclAttribute | undefined, type: string): string | undefined {
    if (attribute === undefined) return type;
    const { value } = attribute;
    if (value.kind === 'variable') return value.name;
    if (value.kind === 'literal' && typeof value.value === 'string') return value.value;
    this.reading.fault(value.range, '"iterator" needs a name');
    return undefined;
  }
}

const known = ['for_each', 'iterator', 'labels'];

const isDynamic = (item: HclItem): item is HclBlock =>
  item.kind === 'block' && item.type === 'dynamic';

import { nearestNames } from '../filter/errors.ts';
import { describe, evaluateConstant, type HclValue } from '../hcl/constant.ts';
import { HclError } from '../hcl/errors.ts';
import type { Range, Source } from '../hcl/source.ts';
import type { HclAttribute, HclBlock, HclBody, HclExpression, HclItem } from '../hcl/syntax.ts';
import type { CapabilityTable } from './capabilities.ts';
import type { RulesLimits } from './limits.ts';
import type { Access } from './rule.ts';

type Report = (sentence: string, range: Range) => void;

/** Reads the parts of rules. Each method reports its faults and returns the other parts. */
export class RuleValues {
  private readonly source: Source;
  private readonly limits: RulesLimits;
  private readonly report: Report;

  constructor(source: Source, limits: RulesLimits, report: Report) {
    this.source = source;
    this.limits = limits;
    this.report = report;
  }

  /** The items of a body. An attribute that is set again is a fault and left out. */
  itemsOf(body: HclBody): readonly HclItem[] {
    const known = new Set<string>();
    return body.items.filter((item) => {
      if (item.kind === 'block') return true;
      if (known.has(item.name)) this.report(`"${item.name}" is set already`, item.nameRange);
      return known.size < known.add(item.name).size;
    });
  }

  /** The parts of a block that may hold only these attributes and blocks. */
  parts(block: HclBlock, names: readonly string[], types: readonly string[]) {
    const attributes = new Map<string, HclAttribute>();
    const blocks: HclBlock[] = [];
    for (const item of this.itemsOf(block.body)) {
      if (item.kind === 'attribute' && names.includes(item.name)) attributes.set(item.name, item);
      else if (item.kind === 'block' && types.includes(item.type)) blocks.push(item);
      else this.unexpected(block, item, names, types);
    }
    return { attributes, blocks };
  }

  private unexpected(
    block: HclBlock,
    item: HclItem,
    names: readonly string[],
    types: readonly string[],
  ): void {
    const [word, range] =
      item.kind === 'attribute' ? [item.name, item.nameRange] : [item.type, item.typeRange];
    const isOther = names.includes(word) || types.includes(word);
    const hint = isOther ? '' : suggestion(word, [...names, ...types]);
    const what = item.kind === 'attribute' ? 'takes no attribute' : 'takes no block';
    this.report(`"${block.type}" ${what} "${shown(word)}"${hint}`, range);
  }

  /** The only label of a block; `undefined` without a label, which is a fault if the label is required. */
  label(block: HclBlock, required: boolean): string | undefined {
    const { labels, type } = block;
    for (const extra of labels.slice(1)) this.report(`"${type}" takes one name`, extra.range);
    const [first] = labels;
    if (first === undefined) {
      if (required) this.report(`"${type}" needs a name: ${type} "name" { … }`, block.typeRange);
      return undefined;
    }
    if (first.text.length > this.limits.nameLengthMax) {
      this.report(`A name has ${this.limits.nameLengthMax} characters at most`, first.range);
      return undefined;
    }
    return first.text;
  }

  policy(expression: HclExpression, policies: readonly Access[]): Access | undefined {
    const value = this.constant(expression);
    if (value === undefined) return undefined;
    const access = policies.find((policy) => policy === value);
    if (access === undefined) {
      const found = typeof value === 'string' ? `"${shown(value)}"` : describe(expression);
      this.report(`Expected ${listed(policies)}, found ${found}`, expression.range);
    }
    return access;
  }

  /** The capabilities in order, without repetition. */
  capabilities(expression: HclExpression, table: CapabilityTable): readonly string[] | undefined {
    if (expression.kind !== 'tuple') {
      const found = describe(expression);
      this.report(`Expected a list of capabilities, found ${found}`, expression.range);
      return undefined;
    }
    const found = expression.items.map((item) => this.capability(item, table));
    if (found.includes(undefined)) return undefined;
    return [...new Set(found as readonly string[])].sort();
  }

  private capability(expression: HclExpression, table: CapabilityTable): string | undefined {
    const value = this.constant(expression);
    if (value === undefined) return undefined;
    if (typeof value === 'string' && table.known.includes(value)) return value;
    if (typeof value !== 'string') {
      this.report(`Expected a capability, found ${describe(expression)}`, expression.range);
      return undefined;
    }
    const hint = suggestion(value, table.known);
    this.report(`"${shown(value)}" is not a capability${hint}`, expression.range);
    return undefined;
  }

  private constant(expression: HclExpression): HclValue | undefined {
    try {
      return evaluateConstant(expression, this.source);
    } catch (error) {
      if (!(error instanceof HclError)) throw error;
      this.report(error.sentence, this.source.range(error.offset, error.offset));
      return undefined;
    }
  }
}

/** `"deny", "read" or "write"` */
export const listed = (words: readonly string[]): string => {
  const quoted = words.map((word) => `"${word}"`);
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
};

/** The end of a message about an unknown word. The shortest words are similar to all words, so they get none. */
export function suggestion(word: string, known: readonly string[]): string {
  const [nearest] = word.length < 3 ? [] : nearestNames(word.slice(0, 64), known);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

export const shown = (text: string): string => text.slice(0, 64).toWellFormed();

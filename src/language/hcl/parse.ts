import { BodyParser } from './body.ts';
import { parseExpression } from './expression.ts';
import { type HclLimits, hclLimits } from './limits.ts';
import { type HclGrammar, Reader } from './reader.ts';
import { Source } from './source.ts';
import type { HclBody, HclExpression, HclLiteral, HclTemplate } from './syntax.ts';
import { readWholeTemplate } from './template.ts';
import { checkHeight } from './walk.ts';

export interface TextOptions extends Partial<HclLimits> {
  /** The name of the text in faults. */
  readonly fileName?: string;
}

export interface HclOptions extends Partial<HclGrammar>, TextOptions {}

/**
 * Parses a text in HCL2's native syntax, without evaluating it. Source: docs/reference/hcl.md.
 * @throws HclError with all faults that could be told apart
 */
export function parseHcl(text: string, options: HclOptions = {}): HclBody {
  const { source, limits, reader } = openText(text, options);
  const body = new BodyParser(reader).file();
  checkHeight(source, limits, body);
  return body;
}

/**
 * Parses a text that is a single expression, such as the value of a variable on a command line.
 * @throws HclError
 */
export function parseHclExpression(text: string, options: TextOptions = {}): HclExpression {
  const { source, limits, reader } = openText(text, options);
  const expression = reader.withNewlines(false, () => {
    const value = parseExpression(reader);
    if (reader.peek().kind !== 'end') throw reader.expected('an operator or the end of the text');
    return value;
  });
  checkHeight(source, limits, expression);
  return expression;
}

/**
 * Parses a text that is a template as a whole, such as a file that `templatefile` renders.
 * @throws HclError
 */
export function parseHclTemplate(
  text: string,
  options: TextOptions = {},
): HclLiteral | HclTemplate {
  const { source, limits, reader } = openText(text, options);
  const template = readWholeTemplate(reader, parseExpression);
  checkHeight(source, limits, template);
  return template;
}

/** A reader at the start of a text. Refuses a text that is too long. */
export function openText(text: string, options: HclOptions) {
  const limits: HclLimits = { ...hclLimits, ...options };
  const isTooLong = text.length > limits.textLengthMax;
  const source = new Source(isTooLong ? text.slice(0, 100) : text, options.fileName);
  if (isTooLong) {
    throw source.error(`The text is longer than ${limits.textLengthMax} characters`, 0);
  }
  const grammar = { hcl1Blocks: options.hcl1Blocks ?? false };
  return { source, limits, reader: new Reader(source, limits, grammar) };
}

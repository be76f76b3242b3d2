/**
 * The reference implementation of HCL2, written in Go, in the package `@cdktf/hcl2json`. It turns a text into
 * JSON: constants as values, everything else as the source between `${` and `}`. So its answer also shows
 * where it divides the text. `jsonOf` makes the same JSON of our tree.
 */
import { createRequire } from 'node:module';
import { plainText } from '../functions/number-text.ts';
import { evaluateConstant, type HclValue } from './constant.ts';
import { HclError } from './errors.ts';
import type {
  HclBlock,
  HclBody,
  HclEntry,
  HclExpression,
  HclNode,
  HclTemplate,
  HclTemplatePart,
} from './syntax.ts';
import { childrenOf } from './walk.ts';

/** Without `import`, since the package's types declare the globals of a browser for all files. */
const require = createRequire(import.meta.url);
const { parse } = require('@cdktf/hcl2json') as {
  parse(fileName: string, text: string): Promise<unknown>;
};

export type OracleAnswer =
  | { readonly isHcl: true; readonly json: unknown }
  /** HCL2 without a form in JSON: `-"a"`, or blocks with and without labels. */
  | { readonly isHcl: true; readonly json?: never }
  | { readonly isHcl: false; readonly reason: string };

export async function askOracle(text: string): Promise<OracleAnswer> {
  try {
    return { isHcl: true, json: await parse('text', text) };
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith('convert to HCL: ')) return { isHcl: true };
    if (message.startsWith('parse config: ')) return { isHcl: false, reason: message.slice(14) };
    throw error;
  }
}

type Json = HclValue;
type JsonObject = { [key: string]: Json };

/** The form of the oracle's JSON is not predicted. */
class Untold extends Error {}

/** The JSON that the oracle makes of a body that it reads as we do; `undefined` if it is not predicted. */
export function jsonOf(body: HclBody, text: string): Json | undefined {
  try {
    return jsonOfBody(body, text);
  } catch (error) {
    if (error instanceof Untold) return undefined;
    throw error;
  }
}

function jsonOfBody(body: HclBody, text: string): Json {
  const result: JsonObject = Object.create(null);
  for (const item of body.items) {
    if (item.kind !== 'attribute') continue;
    const constant = isConstant(item.value) ? constantOf(item.value, text) : undefined;
    result[item.name] =
      constant === undefined ? jsonOfExpression(item.value, text) : escapedIn(constant);
  }
  // An attribute overrides blocks of the same name.
  const attributes = new Set(Object.keys(result));
  for (const item of body.items) {
    if (item.kind === 'block' && !attributes.has(item.type)) addBlock(result, item, text);
  }
  return result;
}

const constantKinds = ['literal', 'tuple', 'object', 'entry', 'template', 'text', 'interpolation'];

/** Whether the oracle evaluates the node like `evaluateConstant`. */
const isConstant = (node: HclNode): boolean =>
  constantKinds.includes(node.kind) && childrenOf(node).every(isConstant);

function constantOf(expression: HclExpression, text: string): HclValue | undefined {
  try {
    return evaluateConstant(expression, text);
  } catch (error) {
    // `"x${[1]}"` and `"x${null}"` have no value.
    if (error instanceof HclError) return undefined;
    throw error;
  }
}

function escapedIn(value: HclValue): Json {
  if (typeof value === 'string') return escaped(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(escapedIn);
  const entries = Object.entries(value).map(([key, one]) => [escaped(key), escapedIn(one)]);
  return Object.fromEntries(entries);
}

/** `type.label.label` leads to the list of the blocks with these labels. */
function addBlock(into: JsonObject, { type, labels, body }: HclBlock, text: string): void {
  const path = [type, ...labels.map((label) => label.text)];
  const last = path.pop()!;
  let place = into;
  for (const name of path) {
    place[name] ??= Object.create(null) as JsonObject;
    place = place[name] as JsonObject;
  }
  place[last] = [...((place[last] as readonly Json[]) ?? []), jsonOfBody(body, text)];
}

function jsonOfExpression(expression: HclExpression, text: string): Json {
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'string' ? escaped(expression.value) : expression.value;
    case 'template':
      return jsonOfTemplate(expression, text);
    case 'tuple':
      return expression.items.map((item) => jsonOfExpression(item, text));
    case 'object':
      return jsonOfObject(expression.entries, text);
    case 'unary':
      return isLiteral(expression.operand)
        ? evaluateConstant(expression, text)
        : asSource(expression, text);
    default:
      return asSource(expression, text);
  }
}

function jsonOfObject(entries: readonly HclEntry[], text: string): Json {
  const result: JsonObject = Object.create(null);
  for (const { key, value } of entries) {
    result[jsonKey(key, text)] = jsonOfExpression(value, text);
  }
  return result;
}

function jsonKey(key: HclExpression, text: string): string {
  if (key.kind === 'literal' || key.kind === 'template') return textOfExpression(key, text);
  return isReference(key) ? sourceOf(key, text) : asSource(key, text);
}

/** Whether all parts of `a.b[0].c` are constant. */
const isReference = (node: HclExpression): boolean =>
  node.kind === 'variable' ||
  (node.kind === 'get-attribute' && isReference(node.of)) ||
  (node.kind === 'index' && node.key.kind === 'literal' && isReference(node.of));

function jsonOfTemplate({ parts }: HclTemplate, text: string): Json {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'interpolation') {
    return jsonOfExpression(only.expression, text);
  }
  return textOfParts(parts, text);
}

const textOfParts = (parts: readonly HclTemplatePart[], text: string): string =>
  parts.map((part) => textOfPart(part, text)).join('');

function textOfPart(part: HclTemplatePart, text: string): string {
  switch (part.kind) {
    case 'text':
      return escaped(part.text);
    case 'interpolation':
      return textOfExpression(part.expression, text);
    case 'if-directive':
      if ([...part.whenTrue, ...part.whenFalse].some(holdsNull)) throw new Untold();
      return ifDirective(
        sourceOf(part.condition, text),
        textOfParts(part.whenTrue, text),
        textOfParts(part.whenFalse, text),
      );
    case 'for-directive': {
      if (part.parts.some(holdsNull)) throw new Untold();
      const names = part.keyName === undefined ? '' : `${part.keyName}, `;
      const intro = `for ${names}${part.valueName} in ${sourceOf(part.collection, text)}`;
      return `%{${intro}}${textOfParts(part.parts, text)}%{endfor}`;
    }
  }
}

function textOfExpression(expression: HclExpression, text: string): string {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      if (typeof value !== 'number') return escaped(String(value));
      // The oracle keeps digits that a double does not hold.
      if (digitsOf(sourceOf(expression, text)) > 15) throw new Untold();
      return plainText(value);
    }
    case 'template':
      return textOfParts(expression.parts, text);
    case 'conditional':
      return ifDirective(
        sourceOf(expression.condition, text),
        textOfExpression(expression.whenTrue, text),
        textOfExpression(expression.whenFalse, text),
      );
    default:
      return asSource(expression, text);
  }
}

const ifDirective = (condition: string, whenTrue: string, whenFalse: string): string =>
  `%{if ${condition}}${whenTrue}${whenFalse === '' ? '' : `%{else}${whenFalse}`}%{endif}`;

/** The oracle leaves out some parts of directives with a null. */
const holdsNull = (node: HclNode): boolean =>
  (node.kind === 'literal' && node.value === null) || childrenOf(node).some(holdsNull);

const isLiteral = (expression: HclExpression): boolean =>
  expression.kind === 'literal' && typeof expression.value !== 'string';

const digitsOf = (number: string): number =>
  number
    .replace(/[eE].*/, '')
    .replaceAll('.', '')
    .replace(/^0+/, '').length;

const asSource = (expression: HclExpression, text: string): string =>
  `\${${sourceOf(expression, text)}}`;

const sourceOf = ({ range }: HclExpression, text: string): string =>
  text.slice(range.start.offset, range.end.offset);

const escaped = (text: string): string => text.replace(/[$%](?=\{)/g, '$&$&');

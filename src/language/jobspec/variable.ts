import { ConversionFault, convert } from '../hcl/convert.ts';
import { evaluate } from '../hcl/evaluate.ts';
import { parseHclExpression } from '../hcl/parse.ts';
import type { HclScope } from '../hcl/scope.ts';
import { type Range, Source } from '../hcl/source.ts';
import { suggestion } from '../hcl/suggest.ts';
import type { HclAttribute, HclBlock, HclExpression } from '../hcl/syntax.ts';
import { typeConstraint } from '../hcl/type-constraint.ts';
import { anyType, boolType, type HclType, numberType, stringType } from '../hcl/types.ts';
import type { Value } from '../hcl/value.ts';
import type { Reading } from './reading.ts';

/** `variable "name" { … }`: a value that a job file needs. */
export interface Declaration {
  readonly name: string;
  readonly type: HclType;
  /** Whether a given text is the value itself. Otherwise it is an expression. */
  readonly isText: boolean;
  /** A value of the type; `undefined` if a value must be given. */
  readonly default: Value | undefined;
  readonly description: string;
  readonly validations: readonly Validation[];
  readonly range: Range;
}

interface Validation {
  readonly condition: HclExpression;
  readonly message: HclExpression;
}

/** The declarations of a job file, by name. Notes faults, and leaves out faulty declarations. */
export function readDeclarations(
  blocks: readonly HclBlock[],
  reading: Reading,
  scope: HclScope,
): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>();
  const names = new Set<string>();
  const { variablesMax } = reading.limits;
  for (const block of blocks) {
    const [label, extra] = block.labels;
    if (label === undefined || extra !== undefined) {
      const sentence = '"variable" needs one name: variable "name" { … }';
      reading.fault((extra ?? block).range, sentence);
      continue;
    }
    if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(label.text)) {
      reading.fault(label.range, 'The name of a variable has letters, digits, "_" and "-" only');
    } else if (names.has(label.text)) {
      reading.fault(label.range, `There is a variable "${label.text}" already`);
    } else if (names.size >= variablesMax) {
      throw reading.source.error(
        `A job file has ${variablesMax} variables at most`,
        block.range.start.offset,
      );
    } else {
      names.add(label.text);
      const declaration = readDeclaration(label.text, block, reading, scope);
      if (declaration !== undefined) found.set(label.text, declaration);
    }
  }
  reading.declare(names);
  return found;
}

const attributeNames = ['type', 'default', 'description', 'sensitive', 'nullable'];

function readDeclaration(
  name: string,
  block: HclBlock,
  reading: Reading,
  scope: HclScope,
): Declaration | undefined {
  const attributes = new Map<string, HclAttribute>();
  const validations: Validation[] = [];
  for (const item of block.body.items) {
    if (item.kind === 'attribute' && attributeNames.includes(item.name)) {
      attributes.set(item.name, item);
    } else if (item.kind === 'block' && item.type === 'validation') {
      const validation = readValidation(item, reading);
      if (validation !== undefined) validations.push(validation);
    } else {
      const [word, range] =
        item.kind === 'block' ? [item.type, item.typeRange] : [item.name, item.nameRange];
      const hint = suggestion(word, [...attributeNames, 'validation']);
      reading.fault(range, `"variable" has no "${word.slice(0, 64)}"${hint}`);
    }
  }
  const written = typeOf(attributes.get('type'), reading, scope);
  const fallback = attributes.get('default');
  const given = fallback && reading.value(fallback.value, scope);
  if (written === 'faulty' || (fallback !== undefined && given === undefined)) return undefined;
  const type = written ?? typeLike(given);
  const value = given && fallback ? converted(given, type, fallback, reading) : given;
  if (given !== undefined && value === undefined) return undefined;
  return {
    name,
    type,
    default: value,
    validations,
    range: block.typeRange,
    isText: ['string', 'number', 'bool'].includes(type.kind),
    description: textIn(attributes.get('description')),
  };
}

function converted(
  value: Value,
  type: HclType,
  { value: expression }: HclAttribute,
  reading: Reading,
): Value | undefined {
  try {
    return convert(value, type, reading.budget);
  } catch (error) {
    if (!(error instanceof ConversionFault)) throw error;
    reading.fault(expression.range, `The default ${error.message}`);
    return undefined;
  }
}

function typeOf(
  attribute: HclAttribute | undefined,
  reading: Reading,
  scope: HclScope,
): HclType | 'faulty' | undefined {
  if (attribute === undefined) return undefined;
  const type = reading.faults.attempt(() => {
    const { expression, source } = typeExpression(attribute.value, reading);
    return typeConstraint(expression, source, (inner) => evaluate(inner, { ...scope, source }));
  });
  return type ?? 'faulty';
}

/** The expression of a type. In JSON it is in a string. */
function typeExpression(expression: HclExpression, { source, isJson }: Reading) {
  if (!isJson || expression.kind !== 'literal' || typeof expression.value !== 'string') {
    return { expression, source };
  }
  const { value } = expression;
  const fileName = source.fileName === undefined ? 'type' : `${source.fileName}: type`;
  return {
    expression: parseHclExpression(value, { fileName }),
    source: new Source(value, fileName),
  };
}

/** The type of a variable without `type`: the type of its default, or text. */
function typeLike(value: Value | undefined): HclType {
  if (value === undefined || typeof value === 'string') return stringType;
  if (typeof value === 'number') return numberType;
  if (typeof value === 'boolean') return boolType;
  return anyType;
}

/** The text of an attribute; '' for any other expression. */
function textIn(attribute: HclAttribute | undefined): string {
  const value = attribute?.value;
  return value?.kind === 'literal' && typeof value.value === 'string' ? value.value : '';
}

function readValidation(block: HclBlock, reading: Reading): Validation | undefined {
  const attributes = new Map<string, HclExpression>();
  for (const item of block.body.items) {
    if (item.kind === 'attribute' && validationNames.includes(item.name)) {
      attributes.set(item.name, item.value);
    } else {
      reading.fault(item.range, `"validation" holds ${validationNames.join(' and ')} only`);
    }
  }
  const condition = attributes.get('condition');
  const message = attributes.get('error_message');
  if (condition !== undefined && message !== undefined) return { condition, message };
  reading.fault(block.typeRange, `"validation" needs ${validationNames.join(' and ')}`);
  return undefined;
}

const validationNames = ['condition', 'error_message'];

import type { Source } from './source.ts';
import { suggestion } from './suggest.ts';
import type { HclCall, HclEntry, HclExpression } from './syntax.ts';
import {
  anyType,
  boolType,
  type HclAttributeType,
  type HclType,
  numberType,
  stringType,
} from './types.ts';
import type { Value } from './value.ts';

const primitives: ReadonlyMap<string, HclType> = new Map([
  ['any', anyType],
  ['string', stringType],
  ['number', numberType],
  ['bool', boolType],
]);
const constructors = ['list', 'set', 'map', 'tuple', 'object'];
const known = [...primitives.keys(), ...constructors];

/**
 * The type in `type = …` of a variable: `string`, `number`, `bool`, `any`, `list(T)`, `set(T)`, `map(T)`,
 * `tuple([T, …])` and `object({name = T, other = optional(T, default)})`. A bare `list`, `set` or `map` has
 * elements of any type.
 * @param evaluateDefault evaluates the default of an optional attribute
 * @throws HclError
 */
export function typeConstraint(
  expression: HclExpression,
  source: Source,
  evaluateDefault: (expression: HclExpression) => Value,
): HclType {
  return new ConstraintReader(source, evaluateDefault).type(expression);
}

class ConstraintReader {
  private readonly source: Source;
  private readonly evaluateDefault: (expression: HclExpression) => Value;

  constructor(source: Source, evaluateDefault: (expression: HclExpression) => Value) {
    this.source = source;
    this.evaluateDefault = evaluateDefault;
  }

  type(expression: HclExpression): HclType {
    switch (expression.kind) {
      case 'parentheses':
        return this.type(expression.inner);
      case 'variable':
        return this.typeNamed(expression.name, expression);
      case 'call':
        return this.constructed(expression);
      case 'literal':
        // The older form of a type: `type = "string"`.
        if (typeof expression.value === 'string')
          return this.typeNamed(expression.value, expression);
    }
    throw this.errorAt(`Expected a type, such as ${known.join(', ')}`, expression);
  }

  private typeNamed(name: string, node: HclExpression): HclType {
    const primitive = primitives.get(name);
    if (primitive !== undefined) return primitive;
    if (name === 'list' || name === 'set' || name === 'map') return { kind: name, of: anyType };
    if (constructors.includes(name)) {
      const example = name === 'tuple' ? 'tuple([string, number])' : 'object({name = string})';
      throw this.errorAt(`"${name}" needs to know of what; write ${example}`, node);
    }
    throw this.errorAt(`There is no type "${name.slice(0, 64)}"${suggestion(name, known)}`, node);
  }

  private constructed(call: HclCall): HclType {
    const { name } = call;
    if (name === 'optional') throw this.errorAt('Only an attribute of an object is optional', call);
    if (!constructors.includes(name)) {
      throw this.errorAt(`There is no type "${name.slice(0, 64)}"${suggestion(name, known)}`, call);
    }
    const [of] = call.arguments;
    if (of === undefined || call.arguments.length > 1) {
      throw this.errorAt(`"${name}" takes one argument`, call);
    }
    if (name === 'list' || name === 'set' || name === 'map')
      return { kind: name, of: this.type(of) };
    if (name === 'tuple') {
      if (of.kind !== 'tuple') throw this.errorAt('"tuple" takes a list of types in brackets', of);
      return { kind: 'tuple', items: of.items.map((item) => this.type(item)) };
    }
    if (of.kind !== 'object') throw this.errorAt('"object" takes types by name in braces', of);
    return { kind: 'object', attributes: this.attributes(of.entries) };
  }

  private attributes(entries: readonly HclEntry[]): ReadonlyMap<string, HclAttributeType> {
    const attributes = new Map<string, HclAttributeType>();
    for (const { key, value } of entries) {
      if (key.kind !== 'literal' || typeof key.value !== 'string') {
        throw this.errorAt('The name of an attribute has to be fixed', key);
      }
      if (attributes.has(key.value)) throw this.errorAt(`"${key.value}" is listed already`, key);
      attributes.set(key.value, this.attribute(value));
    }
    return attributes;
  }

  private attribute(value: HclExpression): HclAttributeType {
    if (value.kind !== 'call' || value.name !== 'optional') {
      return { type: this.type(value), optional: false };
    }
    const [type, given, ...more] = value.arguments;
    if (type === undefined || more.length > 0) {
      throw this.errorAt('"optional" takes a type and, if there is one, a default', value);
    }
    const optional = { type: this.type(type), optional: true };
    return given === undefined ? optional : { ...optional, default: this.evaluateDefault(given) };
  }

  private errorAt(sentence: string, { range }: Pick<HclExpression, 'range'>) {
    return this.source.error(sentence, range.start.offset);
  }
}

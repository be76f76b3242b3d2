import { AssertionError } from '../../base/assert.ts';
import { ConversionFault, convert } from '../hcl/convert.ts';
import { HclError, HclLimitError } from '../hcl/errors.ts';
import { evaluate } from '../hcl/evaluate.ts';
import { parseJsonBody } from '../hcl/json.ts';
import { parseHcl, parseHclExpression } from '../hcl/parse.ts';
import { Source } from '../hcl/source.ts';
import { suggestion } from '../hcl/suggest.ts';
import type { HclAttribute, HclExpression } from '../hcl/syntax.ts';
import { objectOf, type Value, type ValueObject } from '../hcl/value.ts';
import type { Reading } from './reading.ts';
import type { Declaration } from './variable.ts';

/** Given values of variables, in the order of precedence. Later flags and files override earlier ones. */
export interface VariableInputs {
  /** `-var name=value` */
  readonly flags?: readonly (readonly [name: string, text: string])[];
  /** Attributes in HCL, or a JSON object. */
  readonly files?: readonly { readonly name: string; readonly text: string }[];
  /** Texts of the environment, by the names of the variables. Unknown names are ignored. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A given value, with its text for faults. */
interface Given {
  readonly value: Value;
  readonly source: Source;
  readonly offset: number;
}

type Declarations = ReadonlyMap<string, Declaration>;

/**
 * The given or default values of all variables. Notes as faults: values for unknown variables, values of the
 * wrong type, and variables without a value.
 */
export function variableValues(
  declarations: Declarations,
  inputs: VariableInputs,
  reading: Reading,
): ValueObject {
  const values = new Values(declarations, reading);
  values.take(inputs);
  return objectOf(
    [...declarations.values()].flatMap((declaration): (readonly [string, Value])[] => {
      const value = values.valueOf(declaration);
      return value === undefined ? [] : [[declaration.name, value]];
    }),
  );
}

class Values {
  private readonly declarations: Declarations;
  private readonly reading: Reading;
  private readonly given = new Map<string, Given>();
  /** Variables with a faulty given value, whose fault has been noted. */
  private readonly faulty = new Set<string>();

  constructor(declarations: Declarations, reading: Reading) {
    this.declarations = declarations;
    this.reading = reading;
  }

  take({ flags = [], files = [], environment = {} }: VariableInputs): void {
    for (const name of this.declarations.keys()) {
      const text = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (text !== undefined) this.text(name, text, `the environment variable of "${name}"`);
    }
    for (const { name, text } of files) this.reading.faults.attempt(() => this.file(name, text));
    for (const [name, text] of flags) this.text(name, text, `-var ${name}`);
  }

  valueOf({ name, type, default: fallback, description, range }: Declaration): Value | undefined {
    if (this.faulty.has(name)) return undefined;
    const given = this.given.get(name);
    if (given === undefined) {
      if (fallback !== undefined) return this.validated(name, fallback);
      const about =
        description === '' ? '' : ` (${description.replace(/\s+/g, ' ').slice(0, 200)})`;
      this.reading.fault(range, `The variable "${name}" needs a value${about}`);
      return undefined;
    }
    try {
      return this.validated(name, convert(given.value, type, this.reading.budget), given);
    } catch (error) {
      if (!(error instanceof ConversionFault)) throw error;
      const fault = given.source.fault(`The variable "${name}" ${error.message}`, given.offset);
      this.reading.faults.addFault(fault);
      return undefined;
    }
  }

  private validated(name: string, value: Value, given?: Given): Value | undefined {
    const { validations, range } = this.declarations.get(name)!;
    const scope = this.reading.scope(new Map([['var', objectOf([[name, value]])]]));
    for (const { condition, message } of validations) {
      const holds = this.reading.value(condition, scope);
      if (holds === true || holds === 'true') continue;
      if (holds === undefined) return undefined;
      if (holds !== false && holds !== 'false') {
        this.reading.fault(condition.range, 'A condition has to be true or false');
        return undefined;
      }
      const text = this.reading.value(message, scope);
      const sentence = `The variable "${name}" is refused: ${String(text).slice(0, 1000)}`;
      const source = given?.source ?? this.reading.source;
      this.reading.faults.addFault(source.fault(sentence, given?.offset ?? range.start.offset));
      return undefined;
    }
    return value;
  }

  /** Takes a text of the command line or the environment. It may be secret: faults show its name only. */
  private text(name: string, text: string, fileName: string): void {
    const declaration = this.declarations.get(name);
    const source = new Source(name, fileName);
    if (declaration === undefined) {
      this.unknown(name, source, 0);
    } else if (declaration.isText) {
      this.putValue(name, { value: text, source, offset: 0 });
    } else {
      this.tried(name, () => {
        const value = this.expression(text, source);
        this.putValue(name, { value, source, offset: 0 });
      });
    }
  }

  private expression(text: string, shown: Source): Value {
    try {
      const { textLengthMax } = this.reading.limits;
      return this.constant(parseHclExpression(text, { textLengthMax }), new Source(text));
    } catch (error) {
      if (!(error instanceof HclError)) throw error;
      const faults = error.faults.map(({ sentence, line, column }) =>
        shown.fault(`${sentence} (line ${line}, column ${column} of the value)`, 0),
      );
      throw error instanceof HclLimitError ? new HclLimitError(faults) : new HclError(faults);
    }
  }

  private file(fileName: string, text: string): void {
    const { textLengthMax } = this.reading.limits;
    const isJson = /^\uFEFF?\s*\{/.test(text);
    const options = { fileName, textLengthMax };
    const body = isJson ? parseJsonBody(text, options) : parseHcl(text, options);
    const source = new Source(text, fileName);
    for (const item of body.items) {
      if (item.kind === 'block') {
        const sentence = 'A file of variables holds "name = value" only, and no blocks';
        this.reading.faults.add(source, item.typeRange, sentence);
      } else if (!this.declarations.has(item.name)) {
        this.unknown(item.name, source, item.nameRange.start.offset);
      } else {
        this.entry(item, source, isJson);
      }
    }
  }

  private entry({ name, value, range }: HclAttribute, source: Source, isJson: boolean): void {
    this.tried(name, () => {
      const found = isJson ? jsonConstant(value) : this.constant(value, source);
      this.putValue(name, { value: found, source, offset: range.start.offset });
    });
  }

  private putValue(name: string, given: Given): void {
    this.given.set(name, given);
    this.faulty.delete(name);
  }

  private tried(name: string, read: () => void): void {
    let isRead = false;
    this.reading.faults.attempt(() => {
      read();
      isRead = true;
    });
    if (!isRead) this.faulty.add(name);
  }

  /** The value of an expression without variables and functions. */
  private constant(expression: HclExpression, source: Source): Value {
    const { budget } = this.reading;
    return evaluate(expression, { source, budget, variables: new Map(), functions: new Map() });
  }

  private unknown(name: string, source: Source, offset: number): void {
    const hint = suggestion(name, [...this.declarations.keys()]);
    const sentence = `The job file has no variable "${name.slice(0, 64)}"${hint}`;
    this.reading.faults.addFault(source.fault(sentence, offset));
  }
}

/** Strings of a JSON file of variables are plain text. */
function jsonConstant(expression: HclExpression): Value {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'tuple':
      return expression.items.map(jsonConstant);
    case 'object':
      return objectOf(
        expression.entries.map(({ key, value }) => [
          key.kind === 'literal' ? String(key.value) : '',
          jsonConstant(value),
        ]),
      );
    default:
      throw new AssertionError('JSON holds literals, lists and objects');
  }
}

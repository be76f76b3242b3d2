import { FunctionFault } from '../functions/fault.ts';
import { suggestion } from '../hcl/suggest.ts';
import { LimitReached } from './budget.ts';
import { TemplateError } from './errors.ts';
import type { TemplateFunction } from './functions/define.ts';
import type { RunContext } from './run-context.ts';
import type { Command, Operand, Pipeline, Template } from './syntax.ts';
import { describeValue, isMap, isTrue, TemplateRecord, type TemplateValue } from './value.ts';

export interface EvaluatorOptions {
  readonly template: Template;
  readonly functions: ReadonlyMap<string, TemplateFunction>;
  readonly context: RunContext;
  /** Whether a missing key is an error. Otherwise its value is nothing. */
  readonly failsOnMissingKey: boolean;
}

/** The meaning of names at a place of a running template. */
export interface TemplateScope {
  readonly dot: TemplateValue;
  readonly variables: VariableCell | undefined;
}

/** The visible variables at a place, the newest variable first. */
export interface VariableCell {
  readonly name: string;
  value: TemplateValue;
  readonly outer: VariableCell | undefined;
}

/** Evaluates pipelines. Throws `TemplateError`s with places. */
export class Evaluator {
  readonly #options: EvaluatorOptions;

  constructor(options: EvaluatorOptions) {
    this.#options = options;
  }

  /** The value of a pipeline. The caller sets its variables. */
  pipeline(pipeline: Pipeline, scope: TemplateScope): TemplateValue {
    let value: TemplateValue | undefined;
    for (const command of pipeline.commands) value = this.#command(command, value, scope);
    return value ?? null;
  }

  /** Runs work outside of expressions under the same bounds. */
  bounded<T>(offset: number, run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof LimitReached) throw this.fault(error.message, offset, 'limit');
      if (error instanceof FunctionFault) throw this.fault(error.message, offset);
      throw error;
    }
  }

  fault(sentence: string, offset: number, kind: 'evaluation' | 'limit' = 'evaluation') {
    return new TemplateError(kind, [this.#options.template.source.fault(sentence, offset)]);
  }

  #command(
    { operands, offset }: Command,
    piped: TemplateValue | undefined,
    scope: TemplateScope,
  ): TemplateValue {
    const [first, ...others] = operands as [Operand, ...Operand[]];
    if (first.kind === 'function') return this.#callFunction(first, others, piped, scope);
    if (others.length > 0 || piped !== undefined) {
      const at = others[0]?.offset ?? offset;
      throw this.fault('Only a function takes arguments', at);
    }
    if (first.kind === 'nil') throw this.fault('"nil" has no value of its own', offset);
    return this.#operand(first, scope);
  }

  #operand(operand: Operand, scope: TemplateScope): TemplateValue {
    this.bounded(operand.offset, () => this.#options.context.budget.work(1));
    switch (operand.kind) {
      case 'literal':
        return operand.value;
      case 'nil':
        return null;
      case 'dot':
        return scope.dot;
      case 'variable':
        return cellOf(scope, operand.name).value;
      case 'function':
        return this.#callFunction(operand, [], undefined, scope);
      case 'pipeline':
        return this.pipeline(operand.pipeline, scope);
      case 'fields': {
        let value = this.#operand(operand.of, scope);
        for (const name of operand.names) value = this.#field(value, name, operand.offset);
        return value;
      }
    }
  }

  #field(value: TemplateValue, name: string, offset: number): TemplateValue {
    this.bounded(offset, () => this.#options.context.budget.work(1));
    const { failsOnMissingKey } = this.#options;
    if (value === null && !failsOnMissingKey) return null;
    if (value === null || !isMap(value)) {
      throw this.fault(`${capital(describeValue(value))} has no field "${name}"`, offset);
    }
    const found = value.get(name);
    if (found !== undefined) return found;
    if (value instanceof TemplateRecord) {
      const like =
        suggestion(name, [...value.keys()]) || `; it has ${[...value.keys()].join(', ')}`;
      throw this.fault(`There is no field "${name}" here${like}`, offset);
    }
    if (failsOnMissingKey) throw this.fault(`The map has no key "${name}"`, offset);
    return null;
  }

  #callFunction(
    { name, offset }: Operand & { readonly kind: 'variable' | 'function' },
    operands: readonly Operand[],
    piped: TemplateValue | undefined,
    scope: TemplateScope,
  ): TemplateValue {
    const { functions, context } = this.#options;
    const known = functions.get(name);
    if (known === undefined) throw new Error(`the parser let the function "${name}" through`);
    const count = operands.length + (piped === undefined ? 0 : 1);
    if (count < known.least || count > known.most) {
      throw this.fault(`"${name}" takes ${countText(known)}, not ${count}`, offset);
    }
    if (name === 'and' || name === 'or') return this.#evaluateLogic(name, operands, piped, scope);
    const values = operands.map((operand) => this.#operand(operand, scope));
    if (piped !== undefined) values.push(piped);
    try {
      context.budget.work(1 + values.length);
      return context.budget.called(() => known.call(values, context));
    } catch (error) {
      if (error instanceof LimitReached) throw this.fault(error.message, offset, 'limit');
      if (!(error instanceof FunctionFault)) throw error;
      const at = operands[error.argument ?? -1]?.offset ?? offset;
      throw this.fault(`"${name}": ${error.message}`, at);
    }
  }

  /** The first value that decides, or the last value. Operands after it are not evaluated. */
  #evaluateLogic(
    name: 'and' | 'or',
    operands: readonly Operand[],
    piped: TemplateValue | undefined,
    scope: TemplateScope,
  ): TemplateValue {
    let value: TemplateValue = null;
    for (const operand of operands) {
      value = this.#operand(operand, scope);
      if (isTrue(value) === (name === 'or')) return value;
    }
    return piped ?? value;
  }
}

export function cellOf({ variables }: TemplateScope, name: string): VariableCell {
  for (let cell = variables; cell !== undefined; cell = cell.outer) {
    if (cell.name === name) return cell;
  }
  throw new Error(`the parser let the variable "${name}" through`);
}

const capital = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;

function countText({ least, most }: TemplateFunction): string {
  const one = (count: number) => (count === 1 ? '1 argument' : `${count} arguments`);
  if (least === most) return least === 0 ? 'no arguments' : one(least);
  return most === Number.POSITIVE_INFINITY
    ? `${least} or more arguments`
    : `${least} to ${most} arguments`;
}

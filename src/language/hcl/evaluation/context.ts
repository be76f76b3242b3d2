import type { Budget } from '../budget.ts';
import type { HclError } from '../errors.ts';
import type { HclScope } from '../scope.ts';
import type { HclExpression, HclNode } from '../syntax.ts';
import type { Value } from '../value.ts';

/** The names of `for`s, the innermost name first. */
interface Binding {
  readonly name: string;
  readonly value: Value;
  readonly outer: Binding | undefined;
}

/** The context of an evaluation: the scope, and the present elements of the `for`s and splats around it. */
export class Context {
  readonly scope: HclScope;
  /** The value of `splat-item`. */
  readonly item: Value | undefined;
  private readonly bindings: Binding | undefined;
  private readonly evaluate: (expression: HclExpression, context: Context) => Value;

  constructor(
    scope: HclScope,
    /** Passed in, so that the parts of the evaluator do not import the whole. */
    evaluate: (expression: HclExpression, context: Context) => Value,
    bindings?: Binding,
    item?: Value,
  ) {
    this.scope = scope;
    this.evaluate = evaluate;
    this.bindings = bindings;
    this.item = item;
  }

  get budget(): Budget {
    return this.scope.budget;
  }

  value(expression: HclExpression): Value {
    return this.evaluate(expression, this);
  }

  bind(name: string, value: Value): Context {
    const bindings = { name, value, outer: this.bindings };
    return new Context(this.scope, this.evaluate, bindings, this.item);
  }

  atItem(item: Value): Context {
    return new Context(this.scope, this.evaluate, this.bindings, item);
  }

  variable(name: string): Value | undefined {
    for (let one = this.bindings; one !== undefined; one = one.outer) {
      if (one.name === name) return one.value;
    }
    return this.scope.variables.get(name);
  }

  names(): readonly string[] {
    const names = [...this.scope.variables.keys()];
    for (let one = this.bindings; one !== undefined; one = one.outer) names.push(one.name);
    return names;
  }

  fault(sentence: string, { range }: Pick<HclNode, 'range'>): HclError {
    return this.scope.source.error(sentence, range.start.offset);
  }
}

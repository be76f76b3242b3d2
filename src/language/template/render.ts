import type { Steps } from '../../base/steps.ts';
import { LimitReached, TemplateBudget, type TemplateLimits } from './budget.ts';
import { TemplateError } from './errors.ts';
import { cellOf, Evaluator, type TemplateScope, type VariableCell } from './evaluate.ts';
import { outputOf, sizeOf } from './format-value.ts';
import type { TemplateFunction } from './functions/define.ts';
import { type Dependency, dependencyKey, type TemplateEnvironment } from './run-context.ts';
import type { Pipeline, Template, TemplateBody, TemplateNode } from './syntax.ts';
import { isList, isMap, isTrue, keysInOrder, type TemplateValue } from './value.ts';

export interface RenderOptions {
  readonly limits: TemplateLimits;
  readonly functions: ReadonlyMap<string, TemplateFunction>;
  readonly environment: TemplateEnvironment;
  /** Whether a missing key is an error. Otherwise its value is `<no value>`. */
  readonly failsOnMissingKey?: boolean;
  /** The initial `.` of the template; null by default. */
  readonly dot?: TemplateValue;
}

/** The result of a rendering. `dependencies` has everything that it read, even if it cannot be rendered yet. */
export type Rendering = { readonly dependencies: readonly Dependency[] } & (
  | { readonly kind: 'rendered'; readonly text: string }
  /** The dependencies in `missing` are not known yet, or do not exist. */
  | { readonly kind: 'waiting'; readonly missing: readonly Dependency[] }
  | { readonly kind: 'failed'; readonly error: TemplateError }
);

/**
 * Renders a template, without side effects.
 *
 * Invariants
 *  R1. The same template with the same environment gives the same text.
 *  R2. Every bound of `TemplateLimits` holds for any template. Nothing is thrown.
 *  R3. While a dependency is missing, errors may be caused by its absence, so the rendering waits.
 *  R4. Other work gets a turn about every thousand steps.
 */
export function* renderTemplate(template: Template, options: RenderOptions): Steps<Rendering> {
  const run = new Run(template, options);
  try {
    yield* run.whole();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    if (error.kind === 'limit' || run.missing.size === 0) {
      return { kind: 'failed', error, dependencies: run.dependencies };
    }
  }
  const { dependencies } = run;
  const missing = [...run.missing.values()];
  if (missing.length > 0) return { kind: 'waiting', missing, dependencies };
  return { kind: 'rendered', text: run.text, dependencies };
}

/** Steps between two turns of other work. */
const stepsPerTurn = 1000;

type Flow = 'next' | 'break' | 'continue';

class Run {
  readonly missing = new Map<string, Dependency>();
  readonly #read = new Map<string, Dependency>();
  readonly #template: Template;
  readonly #options: RenderOptions;
  readonly #budget: TemplateBudget;
  readonly #evaluator: Evaluator;
  #pieces: string[] = [];
  #length = 0;
  #depth = 0;

  constructor(template: Template, options: RenderOptions) {
    this.#template = template;
    this.#options = options;
    this.#budget = new TemplateBudget(options.limits);
    this.#evaluator = new Evaluator({
      template,
      functions: options.functions,
      failsOnMissingKey: options.failsOnMissingKey ?? false,
      context: {
        budget: this.#budget,
        environment: options.environment,
        read: (dependency) => this.#lookup(dependency),
        miss: (dependency) => void this.missing.set(dependencyKey(dependency), dependency),
      },
    });
  }

  get text(): string {
    return this.#pieces.join('');
  }

  get dependencies(): readonly Dependency[] {
    return [...this.#read.values()];
  }

  *whole(): Steps<void> {
    yield* this.#renderTemplate(this.#template.body, this.#options.dot ?? null, 0);
  }

  #lookup(dependency: Dependency): TemplateValue | undefined {
    const key = dependencyKey(dependency);
    const { dependenciesMax } = this.#options.limits;
    if (!this.#read.has(key) && this.#read.size >= dependenciesMax) {
      throw new LimitReached(`It reads more than ${dependenciesMax} services, variables and files`);
    }
    this.#read.set(key, dependency);
    const value = this.#options.environment.lookup(dependency);
    if (value === undefined) this.missing.set(key, dependency);
    return value;
  }

  *#renderTemplate(body: TemplateBody, dot: TemplateValue, offset: number): Steps<void> {
    const variables = { name: '$', value: dot, outer: undefined };
    yield* this.#body(body, { dot, variables }, offset);
  }

  *#body(body: TemplateBody, outer: TemplateScope, offset: number): Steps<Flow> {
    const { depthMax } = this.#options.limits;
    if (this.#depth >= depthMax) {
      throw this.#evaluator.fault(`It goes more than ${depthMax} deep`, offset, 'limit');
    }
    this.#depth++;
    let scope = outer;
    for (const node of body) {
      if (this.#budget.sinceTurn > stepsPerTurn) {
        this.#budget.sinceTurn = 0;
        yield;
      }
      if (node.kind === 'text') this.#write(node.text, offset);
      else if (node.kind === 'action') scope = this.#action(node.pipeline, scope);
      else {
        const flow = yield* this.#statement(node, scope, offset);
        if (flow !== 'next') {
          this.#depth--;
          return flow;
        }
      }
    }
    this.#depth--;
    return 'next';
  }

  /** Runs an action. Returns the scope after it. */
  #action(pipeline: Pipeline, scope: TemplateScope): TemplateScope {
    const value = this.#evaluator.pipeline(pipeline, scope);
    if (pipeline.variables.length > 0) return assigned(pipeline, [value], scope);
    const { offset } = pipeline;
    // The text of nested values is larger than the size that was counted when they were made.
    const size = typeof value === 'object' && value !== null ? sizeOf(value) : 0;
    this.#evaluator.bounded(offset, () => this.#budget.make(size));
    this.#write(outputOf(value), offset);
    return scope;
  }

  *#statement(
    node: Exclude<TemplateNode, { kind: 'text' | 'action' }>,
    scope: TemplateScope,
    offset: number,
  ): Steps<Flow> {
    this.#evaluator.bounded(offset, () => this.#budget.work(1));
    switch (node.kind) {
      case 'break':
      case 'continue':
        return node.kind;
      case 'template': {
        const { name, pipeline } = node;
        const dot = pipeline === undefined ? null : this.#evaluator.pipeline(pipeline, scope);
        const body = this.#template.named.get(name) ?? [];
        yield* this.#renderTemplate(body, dot, node.offset);
        return 'next';
      }
      case 'range':
        return yield* this.#range(node, scope);
    }
    const { kind, pipeline, body, otherwise } = node;
    const value = this.#evaluator.pipeline(pipeline, scope);
    const inner = assigned(pipeline, [value], scope);
    if (!isTrue(value)) return yield* this.#body(otherwise, inner, pipeline.offset);
    const dot = kind === 'with' ? value : scope.dot;
    return yield* this.#body(body, { ...inner, dot }, pipeline.offset);
  }

  *#range(
    { pipeline, body, otherwise }: Extract<TemplateNode, { body: TemplateBody }>,
    scope: TemplateScope,
  ): Steps<Flow> {
    const value = this.#evaluator.pipeline(pipeline, scope);
    const { offset, variables } = pipeline;
    let isEmpty = true;
    for (const [key, item] of this.#items(value, offset, variables.length)) {
      isEmpty = false;
      this.#evaluator.bounded(offset, () => this.#budget.work(1));
      const inner = assigned(pipeline, variables.length === 2 ? [key, item] : [item], scope);
      const flow = yield* this.#body(body, { ...inner, dot: item }, offset);
      if (flow === 'break') break;
      // A body without nodes counts its work only here.
      if (this.#budget.sinceTurn > stepsPerTurn) {
        this.#budget.sinceTurn = 0;
        yield;
      }
    }
    if (!isEmpty) return 'next';
    const inner = pipeline.declares ? assigned(pipeline, [], scope) : scope;
    return yield* this.#body(otherwise, inner, offset);
  }

  #items(
    value: TemplateValue,
    offset: number,
    variables: number,
  ): Iterable<readonly [TemplateValue, TemplateValue]> {
    if (value === null) return [];
    if (isList(value)) return value.map((item, index) => [BigInt(index), item] as const);
    if (isMap(value)) {
      this.#evaluator.bounded(offset, () => this.#budget.work(value.size));
      return keysInOrder(value).map((key) => [key, value.get(key)!] as const);
    }
    if (typeof value !== 'bigint') {
      throw this.#evaluator.fault('"range" goes over lists, maps and whole numbers', offset);
    }
    if (variables === 2) {
      throw this.#evaluator.fault('Counting up to a number takes one variable', offset);
    }
    return counting(value);
  }

  #write(text: string, offset: number): void {
    this.#evaluator.bounded(offset, () => this.#budget.work(1 + (text.length >> 6)));
    this.#length += text.length;
    const { outputLengthMax } = this.#options.limits;
    if (this.#length > outputLengthMax) {
      const sentence = `The output is longer than ${outputLengthMax} characters`;
      throw this.#evaluator.fault(sentence, offset, 'limit');
    }
    this.#pieces.push(text);
  }
}

function* counting(end: bigint): Iterable<readonly [TemplateValue, TemplateValue]> {
  for (let at = 0n; at < end; at++) yield [at, at];
}

/** The scope with these values of the pipeline's variables. */
function assigned(
  { variables, declares }: Pipeline,
  values: readonly TemplateValue[],
  scope: TemplateScope,
): TemplateScope {
  if (variables.length === 0) return scope;
  let cells: VariableCell | undefined = scope.variables;
  variables.forEach((name, index) => {
    const value = values[index] ?? null;
    if (declares) cells = { name, value, outer: cells };
    else cellOf(scope, name).value = value;
  });
  return { ...scope, variables: cells };
}

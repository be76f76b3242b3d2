import { Budget, BudgetSpent } from '../hcl/budget.ts';
import { evaluate } from '../hcl/evaluate.ts';
import type { HclFunction, HclScope } from '../hcl/scope.ts';
import type { Range, Source } from '../hcl/source.ts';
import { suggestion } from '../hcl/suggest.ts';
import type { HclBody, HclExpression, HclNode } from '../hcl/syntax.ts';
import type { Value } from '../hcl/value.ts';
import { childrenOf } from '../hcl/walk.ts';
import { Faults } from './faults.ts';
import { jsonValue } from './json-form.ts';
import type { JobFileLimits } from './limits.ts';

/** Names that only the machine of a task knows. */
const runtimeNames = new Set(['attr', 'device', 'env', 'meta', 'node']);

/** A job file while it is read, with its faults and the budget of its expressions. */
export class Reading {
  readonly source: Source;
  readonly limits: JobFileLimits;
  readonly faults: Faults;
  readonly budget = new Budget();
  private readonly functions: ReadonlyMap<string, HclFunction>;
  private readonly tree: HclBody;
  readonly isJson: boolean;
  private onlyStructure = false;
  private declared: ReadonlySet<string> = new Set();
  private interpolated: ReadonlySet<string> | undefined;

  constructor(options: {
    readonly source: Source;
    readonly tree: HclBody;
    readonly isJson: boolean;
    readonly functions: ReadonlyMap<string, HclFunction>;
    readonly limits: JobFileLimits;
  }) {
    this.source = options.source;
    this.tree = options.tree;
    this.isJson = options.isJson;
    this.functions = options.functions;
    this.limits = options.limits;
    this.faults = new Faults(options.limits.faultsMax);
  }

  /** Declares variables and locals. Such a name alone is a reference that lacks its `var.` or `local.`. */
  declare(names: Iterable<string>): void {
    this.declared = new Set([...this.declared, ...names]);
  }

  /** A scope over the text. Unknown names may be known where a task runs. */
  scope(variables: ReadonlyMap<string, Value>): HclScope {
    const { source, functions, budget } = this;
    return { source, variables, functions, budget, isKnownLater: (name) => this.isLater(name) };
  }

  /**
   * If there are faults, only names, labels and blocks are read from now on: a value that depends on a faulty
   * variable would be reported as a second fault.
   */
  evaluateNoMoreIfFaulty(): void {
    this.onlyStructure ||= this.faults.any;
  }

  /** The value; `undefined` after a fault, which is noted. */
  value(expression: HclExpression, scope: HclScope): Value | undefined {
    if (this.onlyStructure) return undefined;
    return this.faults.attempt(() =>
      this.isJson ? jsonValue(expression, scope) : evaluate(expression, scope),
    );
  }

  /** Counts work outside of expressions. @throws HclError if it is too much */
  work(range: Range, steps: number): void {
    try {
      this.budget.work(steps);
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
      throw this.faults.with(error.at(this.source, range.start.offset));
    }
  }

  fault(range: Range, sentence: string): void {
    this.faults.add(this.source, range, sentence);
  }

  /**
   * Environment variables may have any name: `${HOME}`. A name in small letters must be a whole
   * interpolation, since elsewhere it is a text without quotes.
   */
  private isLater(name: string): boolean {
    if (runtimeNames.has(name) || /^[A-Z]/.test(name)) return true;
    if (this.declared.has(name)) return false;
    this.interpolated ??= interpolatedNames(this.tree);
    return this.interpolated.has(name);
  }
}

const ours = ['var', 'local', 'vars', 'locals'];

function interpolatedNames(tree: HclBody): ReadonlySet<string> {
  const names = new Set<string>();
  const open: HclNode[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === 'interpolation') {
      let root: HclExpression = node.expression;
      while (root.kind === 'get-attribute' || root.kind === 'index') root = root.of;
      // `${vra.image}` is a misspelled variable.
      const isOurs = root !== node.expression && root.kind === 'variable' && isLikeOurs(root.name);
      if (root.kind === 'variable' && !isOurs) names.add(root.name);
    }
    for (const child of childrenOf(node)) open.push(child);
  }
  return names;
}

const isLikeOurs = (name: string): boolean => ours.includes(name) || suggestion(name, ours) !== '';

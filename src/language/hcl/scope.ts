import type { Budget } from './budget.ts';
import type { HclError } from './errors.ts';
import type { Source } from './source.ts';
import type { HclCall, HclExpression, HclNode } from './syntax.ts';
import type { Value } from './value.ts';

/** The names that expressions of one text may refer to. */
export interface HclScope {
  /** The text of the expressions, for places of faults and for references that stay text. */
  readonly source: Source;
  /** By the first name of a reference: `var`, `local`. */
  readonly variables: ReadonlyMap<string, Value>;
  readonly functions: ReadonlyMap<string, HclFunction>;
  readonly budget: Budget;
  /**
   * Whether references that begin with a name are only known where a task runs (`attr`, `node`,
   * `NOMAD_TASK_DIR`). Such a reference is not evaluated; its value is the text `${attr.cpu.arch}`,
   * which is written in it, for somebody later to replace. Names of `variables` are not asked for.
   */
  readonly isKnownLater?: (name: string) => boolean;
}

/** A function that job files may call, by the name that it stands under in `HclScope.functions`. */
export type HclFunction = ValueFunction | FormFunction;

/** Takes values: each argument is evaluated and read as what its parameter says. */
export interface ValueFunction {
  readonly kind: 'values';
  readonly parameters: readonly Parameter[];
  /** The parameter of all further arguments; `undefined` when there are none. */
  readonly rest: Parameter | undefined;
  /** A call costs the same for arguments of any length. */
  readonly isCheap: boolean;
  /**
   * Arguments are in the order of the parameters, those left out `undefined`, then the further ones.
   * @throws FunctionFault
   */
  readonly call: (values: readonly (Value | undefined)[], budget: Budget) => Value;
}

/** Takes its arguments as they are written, like `try`. */
export interface FormFunction {
  readonly kind: 'form';
  readonly form: (call: HclCall, place: CallPlace) => Value;
}

/** Where a form is called. */
export interface CallPlace {
  readonly scope: HclScope;
  readonly budget: Budget;
  value(expression: HclExpression): Value;
  fault(sentence: string, node: Pick<HclNode, 'range'>): HclError;
}

export interface Parameter<T extends Value | undefined = Value | undefined> {
  readonly name: string;
  /** May be left out; only the last ones. */
  readonly isOptional?: boolean;
  /** @throws ConversionFault */
  readonly read: (value: Value, budget: Budget) => T;
}

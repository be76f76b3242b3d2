import type { Budget } from './budget.ts';
import type { HclError } from './errors.ts';
import type { Source } from './source.ts';
import type { HclCall, HclExpression, HclNode } from './syntax.ts';
import type { Value } from './value.ts';

/** The names to which the expressions of a text may refer. */
export interface HclScope {
  /** The text of the expressions, for the places of faults and for references that remain text. */
  readonly source: Source;
  /** Values by the first name of a reference: `var`, `local`. */
  readonly variables: ReadonlyMap<string, Value>;
  readonly functions: ReadonlyMap<string, HclFunction>;
  readonly budget: Budget;
  /**
   * Whether references that begin with this name are only known where a task runs (`attr`, `node`,
   * `NOMAD_TASK_DIR`). Such a reference is not evaluated: its value is its own text (`${attr.cpu.arch}`),
   * to be replaced later. Not called for names of `variables`.
   */
  readonly isKnownLater?: (name: string) => boolean;
}

/** A function that job files call by its name in `HclScope.functions`. */
export type HclFunction = ValueFunction | FormFunction;

/** A function of values. Each argument is evaluated and converted as its parameter says. */
export interface ValueFunction {
  readonly kind: 'values';
  readonly parameters: readonly Parameter[];
  /** The parameter of all further arguments; `undefined` if the function takes none. */
  readonly rest: Parameter | undefined;
  /** Whether a call costs the same for arguments of any length. */
  readonly isCheap: boolean;
  /**
   * Takes the arguments in the order of the parameters, `undefined` for omitted arguments, then the further
   * arguments.
   * @throws FunctionFault
   */
  readonly call: (values: readonly (Value | undefined)[], budget: Budget) => Value;
}

/** A function that takes its arguments as expressions, like `try`. */
export interface FormFunction {
  readonly kind: 'form';
  readonly form: (call: HclCall, place: CallPlace) => Value;
}

/** The place and context of a call of a form. */
export interface CallPlace {
  readonly scope: HclScope;
  readonly budget: Budget;
  value(expression: HclExpression): Value;
  fault(sentence: string, node: Pick<HclNode, 'range'>): HclError;
}

export interface Parameter<T extends Value | undefined = Value | undefined> {
  readonly name: string;
  /** Whether it may be omitted. Only the last parameters may. */
  readonly isOptional?: boolean;
  /** @throws ConversionFault */
  readonly read: (value: Value, budget: Budget) => T;
}

import type { Source } from '../hcl/source.ts';
import type { TemplateValue } from './value.ts';

/** A parsed template: immutable, to be rendered any number of times. */
export interface Template {
  readonly source: Source;
  readonly body: TemplateBody;
  /** The templates of `define` and `block`, by name. */
  readonly named: ReadonlyMap<string, TemplateBody>;
}

export type TemplateBody = readonly TemplateNode[];

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  /** Writes its value, unless it sets a variable. */
  | { readonly kind: 'action'; readonly pipeline: Pipeline }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipeline: Pipeline;
      readonly body: TemplateBody;
      readonly otherwise: TemplateBody;
    }
  | {
      readonly kind: 'template';
      readonly name: string;
      readonly pipeline: Pipeline | undefined;
      readonly offset: number;
    }
  | { readonly kind: 'break' | 'continue' };

export interface Pipeline {
  /** Variables that get its value, with their `$`. Only `range` may have two. */
  readonly variables: readonly string[];
  /** Whether the variables are new. */
  readonly declares: boolean;
  /** Each command gets the value of the previous command as its last argument. */
  readonly commands: readonly Command[];
  readonly offset: number;
}

export interface Command {
  /** A function with its arguments, or a single value. */
  readonly operands: readonly Operand[];
  readonly offset: number;
}

export type Operand = { readonly offset: number } & (
  | { readonly kind: 'literal'; readonly value: TemplateValue }
  | { readonly kind: 'nil' | 'dot' }
  | { readonly kind: 'variable' | 'function'; readonly name: string }
  | { readonly kind: 'fields'; readonly of: Operand; readonly names: readonly string[] }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline }
);

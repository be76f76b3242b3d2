/** The tree of a filter expression, which the parser builds and the compiler reads. */

/** A path in the record. `path[0]` is a field of the record or a name bound by `any` or `all`. */
export interface Selector {
  readonly path: readonly string[];
  /** The offset of each part of the path; in a JSON pointer, the offset of the pointer. */
  readonly offsets: readonly number[];
}

/** A value as written, unquoted. The type of the selected field decides how it is read. */
export interface Literal {
  readonly text: string;
  readonly offset: number;
}

/**
 * `value in selector` and `selector contains value` mean the same. They differ in the tree so that it still
 * shows how the expression was written.
 */
export type ValueOperator = 'equal' | 'contains' | 'in' | 'matches';

export type FilterNode =
  | { readonly kind: 'or' | 'and'; readonly terms: readonly FilterNode[] }
  | { readonly kind: 'not'; readonly term: FilterNode }
  | {
      readonly kind: 'match';
      readonly operator: ValueOperator;
      readonly negated: boolean;
      readonly selector: Selector;
      readonly value: Literal;
    }
  | { readonly kind: 'empty' | 'nil'; readonly negated: boolean; readonly selector: Selector }
  | {
      readonly kind: 'any' | 'all';
      readonly selector: Selector;
      /** A name or two names, as written. `_` binds nothing. */
      readonly names: readonly string[];
      readonly body: FilterNode;
    };

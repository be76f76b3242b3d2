/** The tree of a filter expression, which the parser builds and the compiler reads. */

/** A place in the record. `path[0]` is a field of the record or a name bound by `any`/`all`. */
export interface Selector {
  readonly path: readonly string[];
  /** Where each part of the path starts; for a JSON pointer, where the pointer starts. */
  readonly offsets: readonly number[];
}

/** A value as written, unquoted. The type of the selected field decides how it is read. */
export interface Literal {
  readonly text: string;
  readonly offset: number;
}

/**
 * `value in selector` is kept apart from its mirror `selector contains value` only so that a tree
 * still says how it was written; both mean the same.
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
      /** One or two names as written; `_` binds nothing. */
      readonly names: readonly string[];
      readonly body: FilterNode;
    };

/** The tree of a pattern. `source` of a set is an ECMAScript class under the `v` flag. */
export type PatternNode =
  | { readonly kind: 'set'; readonly source: string; readonly ignoreCase: boolean }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  | {
      readonly kind: 'repeat';
      readonly part: PatternNode;
      readonly least: number;
      readonly most: number;
      /** Whether fewer repetitions are preferred. */
      readonly lazy: boolean;
    }
  | { readonly kind: 'capture'; readonly index: number; readonly part: PatternNode };

export type Assertion = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'word' | 'notWord';

/** A fault of a pattern. The message is a clause that starts in lower case. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

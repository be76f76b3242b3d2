import type { Range } from './source.ts';

/**
 * The syntax tree of HCL text, as plain data: bodies of attributes and blocks, and expressions. Every node
 * has its place. Source: docs/reference/hcl.md, and HCL's native syntax specification.
 */
export interface HclBody {
  readonly kind: 'body';
  /** In the order of the text. A name is set at most once, except in bodies of HCL1. */
  readonly items: readonly HclItem[];
  readonly range: Range;
}

export type HclItem = HclAttribute | HclBlock;

export interface HclAttribute {
  readonly kind: 'attribute';
  readonly name: string;
  readonly nameRange: Range;
  readonly value: HclExpression;
  readonly range: Range;
}

export interface HclBlock {
  readonly kind: 'block';
  readonly type: string;
  readonly typeRange: Range;
  readonly labels: readonly HclLabel[];
  readonly body: HclBody;
  readonly range: Range;
}

export interface HclLabel {
  readonly kind: 'label';
  readonly text: string;
  readonly quoted: boolean;
  readonly range: Range;
}

export type HclExpression =
  | HclLiteral
  | HclTemplate
  | HclVariable
  | HclGetAttribute
  | HclIndex
  | HclSplat
  | HclSplatItem
  | HclTuple
  | HclObject
  | HclFor
  | HclCall
  | HclUnary
  | HclBinary
  | HclConditional
  | HclParentheses;

/** A number, keyword, or a string or heredoc without sequences. */
export interface HclLiteral {
  readonly kind: 'literal';
  readonly value: string | number | boolean | null;
  readonly range: Range;
}

/** A string or heredoc with sequences. A single interpolation is its value itself, not a text. */
export interface HclTemplate {
  readonly kind: 'template';
  readonly parts: readonly HclTemplatePart[];
  readonly range: Range;
}

export type HclTemplatePart = HclText | HclInterpolation | HclIfDirective | HclForDirective;

export interface HclText {
  readonly kind: 'text';
  /**
   * Escapes are resolved. Trim markers and the indentation of `<<-` are applied. Empty parts remain:
   * `" ${~ a}"` is a text, and `"${~ a}"` is the value of `a`.
   */
  readonly text: string;
  readonly range: Range;
}

export interface HclInterpolation {
  readonly kind: 'interpolation';
  readonly expression: HclExpression;
  readonly range: Range;
}

export interface HclIfDirective {
  readonly kind: 'if-directive';
  readonly condition: HclExpression;
  readonly whenTrue: readonly HclTemplatePart[];
  /** Empty without an `else`. */
  readonly whenFalse: readonly HclTemplatePart[];
  readonly range: Range;
}

export interface HclForDirective {
  readonly kind: 'for-directive';
  readonly keyName: string | undefined;
  readonly valueName: string;
  readonly collection: HclExpression;
  readonly parts: readonly HclTemplatePart[];
  readonly range: Range;
}

export interface HclVariable {
  readonly kind: 'variable';
  readonly name: string;
  readonly range: Range;
}

/** `of.name` */
export interface HclGetAttribute {
  readonly kind: 'get-attribute';
  readonly of: HclExpression;
  readonly name: string;
  readonly range: Range;
}

/** `of[key]`, or `of.0`. */
export interface HclIndex {
  readonly kind: 'index';
  readonly of: HclExpression;
  readonly key: HclExpression;
  readonly range: Range;
}

/** `of.*.a` (attribute) or `of[*].a[0]` (full): evaluates `item` for each element of `of`. */
export interface HclSplat {
  readonly kind: 'splat';
  readonly style: 'attribute' | 'full';
  readonly of: HclExpression;
  /** Its innermost node is the `splat-item` of this splat. */
  readonly item: HclExpression;
  readonly range: Range;
}

/** The present element of the nearest splat around it. */
export interface HclSplatItem {
  readonly kind: 'splat-item';
  readonly range: Range;
}

export interface HclTuple {
  readonly kind: 'tuple';
  readonly items: readonly HclExpression[];
  readonly range: Range;
}

export interface HclObject {
  readonly kind: 'object';
  readonly entries: readonly HclEntry[];
  readonly range: Range;
}

export interface HclEntry {
  readonly kind: 'entry';
  /** A bare name is a literal string; a name in parentheses is a variable. */
  readonly key: HclExpression;
  readonly value: HclExpression;
  /** In HCL1: whether the value is a block of that name, `key { … }`. */
  readonly isBlock: boolean;
  readonly range: Range;
}

export interface HclFor {
  readonly kind: 'for';
  readonly keyName: string | undefined;
  readonly valueName: string;
  readonly collection: HclExpression;
  /** Given if the result is an object. */
  readonly key: HclExpression | undefined;
  readonly value: HclExpression;
  readonly condition: HclExpression | undefined;
  /** `...`: values with the same key become a tuple. */
  readonly grouped: boolean;
  readonly range: Range;
}

export interface HclCall {
  readonly kind: 'call';
  /** With its scopes: `a::b`. */
  readonly name: string;
  readonly nameRange: Range;
  readonly arguments: readonly HclExpression[];
  /** `...`: the last argument is a sequence of arguments. */
  readonly expanded: boolean;
  readonly range: Range;
}

export interface HclUnary {
  readonly kind: 'unary';
  readonly operator: '-' | '!';
  readonly operand: HclExpression;
  readonly range: Range;
}

export type HclBinaryOperator =
  | ('||' | '&&' | '==' | '!=' | '<' | '<=' | '>' | '>=')
  | ('+' | '-' | '*' | '/' | '%');

export interface HclBinary {
  readonly kind: 'binary';
  readonly operator: HclBinaryOperator;
  readonly left: HclExpression;
  readonly right: HclExpression;
  readonly range: Range;
}

export interface HclConditional {
  readonly kind: 'conditional';
  readonly condition: HclExpression;
  readonly whenTrue: HclExpression;
  readonly whenFalse: HclExpression;
  readonly range: Range;
}

export interface HclParentheses {
  readonly kind: 'parentheses';
  readonly inner: HclExpression;
  readonly range: Range;
}

export type HclNode = HclBody | HclItem | HclLabel | HclEntry | HclExpression | HclTemplatePart;

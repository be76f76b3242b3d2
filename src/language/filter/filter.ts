import { compileNode, type Predicate } from './compile.ts';
import { type ParserLimits, parseFilter } from './parser.ts';
import type { JsonSchema } from './schema.ts';

export type { Predicate } from './compile.ts';
export { FilterError } from './errors.ts';
export type { JsonSchema } from './schema.ts';

/**
 * The filter language of lists (`?filter=`), binding rules and selectors.
 * Source: docs/behaviour/filters.md.
 *
 *   filter     = or
 *   or         = and { "or" and }
 *   and        = not { "and" not }
 *   not        = "not" not | "(" or ")" | collection | match
 *   collection = ( "any" | "all" ) selector "as" name [ "," name ] "{" or "}"
 *   match      = selector ( "==" | "!=" | ["not"] "contains" | ["not"] "matches" ) value
 *              | value ["not"] "in" selector
 *              | selector "is" ["not"] "empty"
 *   selector   = identifier { "." identifier | "." digits | "[" string "]" }
 *              | string that is a JSON pointer: "/Meta/owner"
 *   value      = string | number | identifier { "." identifier | "." digits }
 *   name       = identifier | "_"
 *   string     = '"' text with the escapes \a \b \f \n \r \t \v \\ \" \xHH \uHHHH \UHHHHHHHH '"'
 *              | '`' raw text '`'
 *   number     = [ "-" ] ( "0" | digits without a leading zero ) [ "." digits ]
 *   identifier = letter { letter | digit | "_" | "/" }
 *
 * - Keywords are lower case. `and`, `or` and `not` are never bare words. The other keywords are bare words
 *   where nothing else could be meant: `empty in Tags`, `Status == in`.
 * - Operators that are words need spaces around them; `==`, `!=` and brackets do not. A selector has no
 *   spaces between its parts.
 * - `any` and `all` with a single name bind the element of a list or the key of a map; with two names, the
 *   index or key and the value. `_` binds nothing. A name hides a field of the record.
 * - Names are the published field names, and case matters. `operators.ts` has the meaning of operators.
 *   Patterns are RE2 patterns (`regex/`).
 */
export const filterLimits = {
  expressionLength: 8192,
  depth: 64,
  collectionDepth: 3,
  pathLength: 32,
} as const satisfies ParserLimits;

/**
 * A predicate over records of the given JSON Schema. It is fast and keeps no state between calls: compile
 * it once for a whole list. A blank expression accepts every record.
 *
 * Throws {@link FilterError} (`errors.ts`) for bad syntax, a selector that the schema does not have, an
 * operator that the field's type does not take, and a literal that the field cannot hold. The predicate
 * never throws: a value of another type than its schema's equals nothing and contains nothing.
 *
 * `isStrict` is for rules, where a negated operator must not hold for a value that it cannot judge: the
 * predicate then throws a {@link FilterError} if free content has a type that the operator does not take
 * (`matches` on a number).
 */
export function compileFilter(
  expression: string,
  schema: JsonSchema,
  { isStrict = false, ...options }: Partial<ParserLimits> & { readonly isStrict?: boolean } = {},
): Predicate {
  if (expression.trim() === '') {
    return () => true;
  }
  const node = parseFilter(expression, { ...filterLimits, ...options });
  return compileNode(node, expression, schema, isStrict);
}

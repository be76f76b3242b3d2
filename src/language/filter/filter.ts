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
 * - Keywords are lower case. `and`, `or` and `not` are never bare words; the others are where
 *   nothing else could be meant: `empty in Tags`, `Status == in`.
 * - Words that act as operators stand between spaces; `==`, `!=` and brackets need none. The parts
 *   of a selector touch.
 * - `any`/`all` with one name bind the element of a list or the key of a map; with two, the index
 *   or key and the value; `_` binds nothing. A name hides a field of the record.
 * - Names are the published field names and case counts. Meanings are in `operators.ts`; patterns
 *   are RE2's, in `regex/`.
 */
export const filterLimits = {
  expressionLength: 8192,
  depth: 64,
  collectionDepth: 3,
  pathLength: 32,
} as const satisfies ParserLimits;

/**
 * A predicate over records of the given JSON Schema; free of state between calls and quick, so
 * compile once and keep it for the whole list. A blank expression accepts every record.
 *
 * Throws {@link FilterError} (`errors.ts`) for bad syntax, a selector the schema does not know, an
 * operator that is not for the field's type, and a literal the field cannot hold. The predicate
 * never throws: a value that is not of its schema's type equals nothing and contains nothing.
 *
 * `isStrict` is for rules, where a negated operator must not hold for a value that it cannot judge:
 * the predicate then throws a {@link FilterError} when free content is of a type that the operator
 * is not for (`matches` on a number).
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

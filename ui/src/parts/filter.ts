/**
 * The field of a list takes the filter language of the API (docs/behaviour/filters.md), or plain words, each of which
 * has to be in one of the fields that name a record.
 */
const expression =
  /(==|!=|\bis (not )?(empty|nil)\b|\b(not )?(contains|matches|in)\b|^\s*(any|all)\b.*\bas\b|^\s*not\b|[{}()])/;

export const isExpression = (text: string): boolean => expression.test(text);

/** The `filter` of the API, or `undefined` for an empty field. */
export function filterOf(text: string, fields: readonly string[]): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (isExpression(trimmed)) return trimmed;
  return trimmed
    .split(/\s+/)
    .map((word) => {
      const tests = havingText(word, fields);
      return fields.length === 1 ? tests : `(${tests})`;
    })
    .join(' and ');
}

/** Both, where either may be missing. */
export function both(...filters: readonly (string | undefined)[]): string | undefined {
  const given = filters.filter((filter) => filter !== undefined && filter !== '');
  return given.length < 2 ? given[0] : given.map((filter) => `(${filter})`).join(' and ');
}

/** The filter as words of the command line. */
export const filterWords = (filter: string | undefined): readonly string[] =>
  filter === undefined ? [] : ['-filter', filter];

/** The text is in one of the fields, whatever its case. */
export const havingText = (text: string, fields: readonly string[]): string =>
  fields.map((field) => `${field} matches ${quoted(`(?i)${literal(text)}`)}`).join(' or ');

const literal = (word: string): string => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** A value of the filter language. Backquotes take everything but themselves. */
export function quoted(text: string): string {
  return text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
}

/** The choices of a `Select` that narrows a list to the rows with one of the values. With "All" it narrows nothing. */
export const choicesOf = <T extends string>(values: readonly T[]) => [
  { value: 'all' as const, title: 'All' },
  ...values.map((value) => ({ value, title: value as string })),
];

/**
 * Pure functions of text that job files and templates both offer. The adapters (`hcl/functions/`,
 * `template/functions/`) give them their names, read the arguments and count the cost.
 */

/** The text with capitals at the beginning of words. A word has letters, digits and `_`. */
export const titled = (value: string): string =>
  value.replace(/(?<![\p{L}\p{N}_])\p{L}/gu, (letter) => letter.toUpperCase());

/** The text without these characters at both ends. */
export function trimmed(value: string, characters: string): string {
  const cut = new Set(characters);
  const points = Array.from(value);
  let start = 0;
  let end = points.length;
  while (start < end && cut.has(points[start]!)) start++;
  while (end > start && cut.has(points[end - 1]!)) end--;
  return points.slice(start, end).join('');
}

export const withoutPrefix = (value: string, prefix: string): string =>
  value.startsWith(prefix) ? value.slice(prefix.length) : value;

export const withoutSuffix = (value: string, suffix: string): string =>
  value.endsWith(suffix) ? value.slice(0, value.length - suffix.length) : value;

/** An empty separator splits between characters. */
export const split = (value: string, separator: string): readonly string[] =>
  separator === '' ? Array.from(value) : value.split(separator);

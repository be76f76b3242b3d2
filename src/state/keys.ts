import { assert } from '../base/assert.ts';
import type { Key, KeyRange } from './types.ts';

/**
 * The text of a key is every part followed by NUL. So the text of some leading parts begins the text of
 * exactly the keys that start with these parts.
 */
export const terminator = '\u0000';

export function encodeKey(parts: Key): string {
  let text = '';
  for (const part of parts) {
    assert(!part.includes(terminator), 'a part of a key holds a NUL character');
    text += part + terminator;
  }
  return text;
}

export function hasSameParts(left: Key, right: Key): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
}

/** The text with which all keys of the range begin. */
export function encodeRange(range: KeyRange | undefined): string {
  if (range === undefined) return '';
  const text = range.text ?? '';
  assert(!text.includes(terminator), 'the text of a range holds a NUL character');
  return encodeKey(range.prefix ?? []) + text;
}

export function decodeKey(text: string): string[] {
  return text.split(terminator).slice(0, -1);
}

/** The text up to the end of its last whole part. */
export function wholeParts(text: string): string {
  return text.slice(0, text.lastIndexOf(terminator) + 1);
}

/** Calls `visit` with '', and with the text of the first part, of the first two parts, up to all parts. */
export function eachPrefix(key: string, visit: (prefix: string) => void): void {
  visit('');
  for (let end = key.indexOf(terminator); end !== -1; end = key.indexOf(terminator, end + 1)) {
    visit(key.slice(0, end + 1));
  }
}

/** The least text above the key. */
export const afterKey = (key: string): string => `${key}\u0000`;

/** The least text above all texts that begin with `prefix`; `undefined` if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  for (let end = prefix.length - 1; end >= 0; end--) {
    const unit = prefix.charCodeAt(end);
    if (unit < 0xffff) return prefix.slice(0, end) + String.fromCharCode(unit + 1);
  }
  return undefined;
}

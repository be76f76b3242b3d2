import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { quote as quoted } from '../model/path.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body. Throws `malformed-json` with the position or the repeated key, or `json-too-deep`.
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw refusal('malformed-json', { reason: 'it is not UTF-8 text' });
  }
  const keys = keysIn(text, limits.http.jsonDepthMax);
  if (keys === undefined) {
    throw refusal('json-too-deep', { limit: limits.http.jsonDepthMax });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refusal('malformed-json', { reason: (error as Error).message });
  }
  if (keysOf(value) !== keys) {
    const key = quoted(doubledKey(text) ?? '');
    throw refusal('malformed-json', { reason: `an object has the key ${key} twice` });
  }
  if (escapedSurrogate.test(text) && !isWellFormed(value)) {
    throw refusal('malformed-json', { reason: 'it has half a surrogate pair, which is no text' });
  }
  return value;
}

/** The bytes are valid UTF-8, so only an escape can contain half a pair. */
const escapedSurrogate = /\\u[dD][89a-fA-F]/;

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}

/**
 * Counts brackets and colons outside strings. Brackets bound the recursion of the parser; each key
 * has one colon. `undefined`: the text is nested too deeply.
 */
function keysIn(text: string, depthMax: number): number | undefined {
  let depth = 0;
  let colons = 0;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === quote) position = stringEnd(text, position);
    else if (code === colon) colons++;
    else if (code === openBrace || code === openBracket) {
      if (++depth > depthMax) return undefined;
    } else if (code === closeBrace || code === closeBracket) depth--;
  }
  return colons;
}

/** The place of the quote that ends a string, or the end of a text without it. */
function stringEnd(text: string, start: number): number {
  let end = start;
  let escapes: number;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
  } while (escapes % 2 === 1);
  return end;
}

/** The parser keeps only the last value of a repeated key, so the count is then lower. */
function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const one of value) count += keysOf(one);
    return count;
  }
  for (const key of Object.keys(value)) {
    count += 1 + keysOf((value as Record<string, unknown>)[key]);
  }
  return count;
}

/** A key that occurs twice in an object of the text. */
function doubledKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;
  for (const [found, isKey] of text.matchAll(token)) {
    if (found === '{') open.push(new Set());
    else if (found === '}') open.pop();
    else if (isKey !== undefined) {
      const key = JSON.parse(found.slice(0, -isKey.length)) as string;
      const keys = open.at(-1)!;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

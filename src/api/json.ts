import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a body. Throws `malformed-json` with the place, or `json-too-deep`. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw refusal('malformed-json', { reason: 'it is not UTF-8 text' });
  }
  if (deeperThan(text, limits.http.jsonDepthMax)) {
    throw refusal('json-too-deep', { limit: limits.http.jsonDepthMax });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refusal('malformed-json', { reason: (error as Error).message });
  }
  if (escapedSurrogate.test(text) && !isWellFormed(value)) {
    throw refusal('malformed-json', { reason: 'it has half a surrogate pair, which is no text' });
  }
  return value;
}

/** Only an escape can bring half a pair in: the bytes themselves were UTF-8. */
const escapedSurrogate = /\\u[dD][89a-fA-F]/;

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}

/** A count of brackets, strings left out: enough to bound what the parser recurses into. */
function deeperThan(text: string, most: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (quoted) {
      if (code === backslash) position++;
      else if (code === quote) quoted = false;
    } else if (code === quote) quoted = true;
    else if (code === openBrace || code === openBracket) {
      if (++depth > most) return true;
    } else if (code === closeBrace || code === closeBracket) depth--;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

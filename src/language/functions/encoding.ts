import { FunctionFault } from './fault.ts';

/** Encodes for a query string: a space becomes `+`. */
export const queryEscaped = (value: string): string =>
  encodeURIComponent(value.toWellFormed())
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

/** @throws FunctionFault */
export function utf8Text(bytes: Uint8Array, sentence: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new FunctionFault(sentence, 0);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const padded = {
  base64: /^[A-Za-z0-9+/]*={0,2}$/,
  base64url: /^[A-Za-z0-9_-]*={0,2}$/,
};

/**
 * The text of padded base64 in this alphabet.
 * @throws FunctionFault
 */
export function base64Decoded(value: string, alphabet: keyof typeof padded): string {
  if (value.length % 4 !== 0 || !padded[alphabet].test(value)) {
    throw new FunctionFault('the text is not base64', 0);
  }
  return utf8Text(Buffer.from(value, alphabet), 'the decoded bytes are not text in UTF-8');
}

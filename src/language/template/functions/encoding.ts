import { createHash, createHmac } from 'node:crypto';
import { base64Decoded, queryEscaped } from '../../functions/encoding.ts';
import { any, define, type Functions, rest, text } from './define.ts';
import { printed } from './print.ts';

/** A function of a text, whose work and result grow with the text. */
const of = (change: (value: string) => string) =>
  define([text('text')], ([value], { budget }) => {
    budget.make(value.length);
    const result = change(value);
    budget.make(result.length);
    return result;
  });

/** A function of the text that `print` makes of the values. */
const escaping = (change: (value: string) => string) =>
  define([rest(any('values'))], ([values], context) => {
    const value = printed(values, context);
    context.budget.make(6 * value.length);
    context.budget.walk(value.length, 2);
    return change(value);
  });

export const encodingFunctions: Functions = {
  base64Encode: of((value) => Buffer.from(value).toString('base64')),
  base64URLEncode: of((value) =>
    Buffer.from(value).toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
  ),
  base64Decode: of((value) => base64Decoded(value, 'base64')),
  base64URLDecode: of((value) => base64Decoded(value, 'base64url')),
  sha256Hex: of((value) => createHash('sha256').update(value).digest('hex')),
  md5sum: of((value) => createHash('md5').update(value).digest('hex')),
  hmacSHA256Hex: define([text('key'), text('text')], ([key, value], { budget }) => {
    budget.make(key.length + value.length);
    return createHmac('sha256', key).update(value).digest('hex');
  }),
  html: escaping((value) =>
    value.replace(/[<>&"'\0]/g, (character) => htmlEscapes[character] ?? '\ufffd'),
  ),
  js: escaping((value) => value.replace(/[\\'"<>&=\p{C}\p{Z}]/gu, jsEscape)),
  urlquery: escaping(queryEscaped),
};

const htmlEscapes: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&#34;',
  "'": '&#39;',
};

function jsEscape(character: string): string {
  if (character === ' ') return ' ';
  if (character === '\\' || character === "'" || character === '"') return `\\${character}`;
  const first = unitEscape(character.charCodeAt(0));
  return character.length === 1 ? first : first + unitEscape(character.charCodeAt(1));
}

const unitEscape = (unit: number): string =>
  `\\u${unit.toString(16).toUpperCase().padStart(4, '0')}`;

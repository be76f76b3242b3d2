import { FunctionFault } from '../scope.ts';
import { csvRows } from './csv.ts';
import { any, define, type Functions, text } from './define.ts';
import { jsonText } from './json-text.ts';
import { jsonValue } from './json-value.ts';
import { yamlText } from './yaml-text.ts';
import { yamlValue } from './yaml-value.ts';

export const encodingFunctions: Functions = {
  base64decode: define([text('string')], ([value], budget) => {
    budget.make(value.length);
    return utf8Text(decode64(value), 'what it decodes to is not text: not UTF-8');
  }),
  base64encode: define([text('string')], ([value], budget) =>
    budget.made(Buffer.from(value.toWellFormed(), 'utf8').toString('base64')),
  ),
  csvdecode: define([text('string')], ([value], budget) => csvRows(value, budget)),
  jsondecode: define([text('string')], ([value], budget) => jsonValue(value, budget)),
  jsonencode: define([any('value')], ([value], budget) => jsonText(value, budget)),
  urlencode: define([text('string')], ([value], budget) =>
    budget.made(
      encodeURIComponent(value.toWellFormed())
        .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
        .replaceAll('%20', '+'),
    ),
  ),
  yamldecode: define([text('string')], ([value], budget) => yamlValue(value, budget)),
  yamlencode: define([any('value')], ([value], budget) => yamlText(value, budget)),
};

function decode64(value: string): Uint8Array {
  // Line ends are passed over, as those who wrap long texts expect.
  const joined = value.replace(/[\r\n]/g, '');
  const padding = joined.indexOf('=');
  const end = padding < 0 ? joined.length : padding;
  const isPadded = /^={0,2}$/.test(joined.slice(end, end + 3));
  if (joined.length % 4 === 0 && isPadded && !/[^A-Za-z0-9+/]/.test(joined.slice(0, end))) {
    return Buffer.from(joined, 'base64');
  }
  throw new FunctionFault('this is not base64', 0);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws FunctionFault */
export function utf8Text(bytes: Uint8Array, sentence: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new FunctionFault(sentence, 0);
  }
}

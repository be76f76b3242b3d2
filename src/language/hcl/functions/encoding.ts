import { base64Decoded, queryEscaped } from '../../functions/encoding.ts';
import { csvRows } from './csv.ts';
import { any, define, type Functions, text } from './define.ts';
import { jsonText } from './json-text.ts';
import { jsonValue } from './json-value.ts';
import { yamlText } from './yaml-text.ts';
import { yamlValue } from './yaml-value.ts';

export const encodingFunctions: Functions = {
  base64decode: define([text('string')], ([value], budget) => {
    budget.make(value.length);
    // Line ends are skipped, since long texts are often wrapped.
    return base64Decoded(value.replace(/[\r\n]/g, ''), 'base64');
  }),
  base64encode: define([text('string')], ([value], budget) =>
    budget.made(Buffer.from(value.toWellFormed(), 'utf8').toString('base64')),
  ),
  csvdecode: define([text('string')], ([value], budget) => csvRows(value, budget)),
  jsondecode: define([text('string')], ([value], budget) => jsonValue(value, budget)),
  jsonencode: define([any('value')], ([value], budget) => jsonText(value, budget)),
  urlencode: define([text('string')], ([value], budget) => budget.made(queryEscaped(value))),
  yamldecode: define([text('string')], ([value], budget) => yamlValue(value, budget)),
  yamlencode: define([any('value')], ([value], budget) => yamlText(value, budget)),
};

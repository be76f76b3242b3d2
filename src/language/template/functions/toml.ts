import { FunctionFault } from '../../functions/fault.ts';
import { plainText } from '../../functions/number-text.ts';
import { isList, isMap, keysInOrder, type TemplateMap, type TemplateValue } from '../value.ts';

/** A map as a TOML document: first its values, then its tables. */
export const tomlText = (map: TemplateMap): string => lines(map, []).join('\n').trim();

const isTable = (value: TemplateValue): value is TemplateMap => isMap(value);

const isTables = (value: TemplateValue): value is readonly TemplateMap[] =>
  isList(value) && value.length > 0 && value.every(isMap);

function lines(map: TemplateMap, path: readonly string[]): readonly string[] {
  const own: string[] = [];
  const tables: string[] = [];
  for (const key of keysInOrder(map)) {
    const value = map.get(key)!;
    const inner = [...path, keyText(key)];
    if (isTable(value)) tables.push('', `[${inner.join('.')}]`, ...lines(value, inner));
    else if (isTables(value)) {
      for (const table of value) tables.push('', `[[${inner.join('.')}]]`, ...lines(table, inner));
    } else if (value !== null) own.push(`${keyText(key)} = ${valueText(value)}`);
  }
  return [...own, ...tables];
}

const keyText = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : textText(key));

const textText = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replaceAll('\x7f', '\\u007F');

function valueText(value: TemplateValue): string {
  if (value === null) throw new FunctionFault('TOML has no value for nothing in a list', 0);
  if (typeof value === 'string') return textText(value);
  if (typeof value === 'number') return numberText(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(valueText).join(', ')}]`;
  const map = value as TemplateMap;
  const members = keysInOrder(map)
    .filter((key) => map.get(key) !== null)
    .map((key) => `${keyText(key)} = ${valueText(map.get(key)!)}`);
  return members.length === 0 ? '{}' : `{${members.join(', ')}}`;
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const text = Object.is(value, -0) ? '-0' : plainText(value);
  return text.includes('.') ? text : `${text}.0`;
}

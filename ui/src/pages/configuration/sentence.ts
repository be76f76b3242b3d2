/** The gist of an entry for a list: the values of its fields that are set, in their order. */
import type { ShownConfigEntry } from '../../../../src/contract/config-entry.ts';

const common = new Set([
  'Kind',
  'Name',
  'Namespace',
  'Partition',
  'Meta',
  'CreateIndex',
  'ModifyIndex',
]);
/** Not in limits: what fits a line. */
const fieldsShownMax = 4;
const textLengthMax = 40;

export function sentenceOf(entry: ShownConfigEntry): string {
  const told = Object.entries(entry)
    .filter(([field, value]) => !common.has(field) && !isUnset(value))
    .map(([field, value]) => `${field}: ${wordsOf(value)}`);
  return told.slice(0, fieldsShownMax).join(' · ') + (told.length > fieldsShownMax ? ' · …' : '');
}

/** The API shows an unset duration as "0s". */
const nothings: ReadonlySet<unknown> = new Set(['', '0s', false, 0]);

/** A value that says nothing: fields that nobody has set are shown with it. */
export function isUnset(value: unknown): boolean {
  if (value === null || value === undefined || nothings.has(value)) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.values(value).every(isUnset);
}

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) {
    const names = value.map((item) => nameOf(item)).filter((name) => name !== '');
    return names.length === value.length && names.length <= fieldsShownMax
      ? names.join(', ')
      : String(value.length);
  }
  if (typeof value === 'object' && value !== null) {
    const names = Object.entries(value)
      .filter(([, item]) => !isUnset(item))
      .map(([name]) => name);
    return names.slice(0, fieldsShownMax).join(', ') + (names.length > fieldsShownMax ? ', …' : '');
  }
  const text = String(value);
  return text.length > textLengthMax ? `${text.slice(0, textLengthMax)}…` : text;
}

function nameOf(item: unknown): string {
  if (typeof item !== 'object' || item === null) return '';
  const { Name, Action, Weight, Service } = item as Readonly<Record<string, unknown>>;
  const name = typeof Name === 'string' && Name !== '' ? Name : String(Service ?? '');
  if (name === '') return '';
  if (Weight !== undefined) return `${name} (weight ${String(Weight)})`;
  return typeof Action === 'string' && Action !== '' ? `${Action} ${name}` : name;
}

type Fields = Readonly<Record<string, unknown>>;

/** An entry as a file in HCL for `config write`, without unset fields. */
export function entryText(entry: Fields): string {
  const { CreateIndex: _, ModifyIndex, ...fields } = entry;
  return `# ModifyIndex ${ModifyIndex}\n${fieldsText(said(fields) as Fields)}`;
}

/** Fields as attributes in HCL, without a newline at the end. */
export const fieldsText = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, value]) => `${keyOf(name)} = ${valueText(value, '')}`)
    .join('\n');

/** Whether a value is empty: null, an empty text or list, 0 or false. */
function isUnsaid(value: unknown): boolean {
  if (value === null || value === '' || value === false || value === 0 || value === '0s') {
    return true;
  }
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? value.length === 0 : Object.values(value).every(isUnsaid);
}

/** The record without empty values. */
function said(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(said);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, one]) => !isUnsaid(one));
  return Object.fromEntries(fields.map(([name, one]) => [name, said(one)]));
}

function valueText(value: unknown, indent: string): string {
  const deeper = `${indent}  `;
  if (typeof value === 'string') return textOf(value);
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one !== 'object')) {
      return `[${value.map((one) => (typeof one === 'string' ? quoted(one) : one)).join(', ')}]`;
    }
    const items = value.map((one) => `${deeper}${valueText(one, deeper)},`);
    return ['[', ...items, `${indent}]`].join('\n');
  }
  if (typeof value === 'object' && value !== null) {
    const lines = Object.entries(value).map(
      ([name, one]) => `${deeper}${keyOf(name)} = ${valueText(one, deeper)}`,
    );
    return lines.length === 0 ? '{}' : ['{', ...lines, `${indent}}`].join('\n');
  }
  return String(value);
}

/** Doubles characters that would begin a template sequence. */
const plain = (text: string): string => text.replace(/[$%](?=\{)/g, (sign) => sign + sign);

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A quoted text without control characters. */
const quoted = (text: string): string =>
  `"${plain(text).replace(
    /["\\\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
    (sign) => escapes[sign] ?? `\\U${sign.codePointAt(0)!.toString(16).padStart(8, '0')}`,
  )}"`;

/** A heredoc, which keeps the lines of certificates readable. */
function textOf(text: string): string {
  const areLines = /^(?:[\p{L}\p{N}\p{P}\p{S} ]*\n)+$/u.test(text) && !/^ *EOT *$/m.test(text);
  return areLines ? `<<EOT\n${plain(text)}EOT` : quoted(text);
}

const keyOf = (name: string): string => (/^[A-Za-z_][\w-]*$/.test(name) ? name : quoted(name));

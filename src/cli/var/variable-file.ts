import { parseHcl } from '../../language/hcl/parse.ts';
import { Source } from '../../language/hcl/source.ts';
import type { Variable } from '../../model/variable/variable.ts';
import { understood } from '../acl/policy-files.ts';
import { valuesIn } from '../block-file.ts';
import { CliError } from '../errors.ts';

/** A variable of a file. */
export interface GivenVariable {
  readonly path: string | undefined;
  readonly namespace: string | undefined;
  readonly modifyIndex: number | undefined;
  readonly items: Readonly<Record<string, string>>;
}

export const forms = ['hcl', 'json'] as const;

export const variableExample = `# Write it with "roster var put @FILE".
path = "roster/jobs/example"

# namespace = "default"

items {
  user     = "app"
  password = "change me"
}
`;

export const variableExampleJson = `${JSON.stringify(
  { Path: 'roster/jobs/example', Items: { user: 'app', password: 'change me' } },
  null,
  2,
)}\n`;

/**
 * Reads a variable from a text. Errors never contain texts of items.
 * @throws CliError naming the file
 */
export function variableIn(
  text: string,
  name: string,
  form: string | undefined = text.trimStart().startsWith('{') ? 'json' : 'hcl',
): GivenVariable {
  const fields = form === 'json' ? jsonFields(text, name) : hclFields(text, name);
  const take = (key: string) => {
    const found = [...fields].find(([field]) => field.replaceAll('_', '').toLowerCase() === key);
    return found?.[1];
  };
  const textOf = (key: string) => {
    const value = take(key);
    if (value === undefined || value === null || typeof value === 'string')
      return value || undefined;
    throw new CliError(`${name}: "${key}" must be text.`);
  };
  const modifyIndex = take('modifyindex');
  return {
    path: textOf('path'),
    namespace: textOf('namespace'),
    modifyIndex: typeof modifyIndex === 'number' ? modifyIndex : undefined,
    items: itemsOf(take('items'), name),
  };
}

function itemsOf(value: unknown, name: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new CliError(`${name}: "items" must be names with texts.`);
  }
  const wrong = Object.entries(value).find(([, one]) => typeof one !== 'string');
  if (wrong !== undefined) throw new CliError(`${name}: the item "${wrong[0]}" must be text.`);
  return value as Record<string, string>;
}

function jsonFields(text: string, name: string): ReadonlyMap<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may be secret.
    throw new CliError(`${name} is not JSON.`);
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return new Map(Object.entries(parsed));
  }
  throw new CliError(`${name} holds no variable: an object with "Path" and "Items".`);
}

const known = ['path', 'namespace', 'items', 'modify_index', 'create_index'];

function hclFields(text: string, name: string): ReadonlyMap<string, unknown> {
  const source = new Source(text);
  return understood(name, () => {
    const fields = valuesIn(parseHcl(text), source);
    const unknown = [...fields].find(([key]) => !known.includes(key));
    if (unknown === undefined) return new Map([...fields].map(([key, { value }]) => [key, value]));
    throw source.error(`A variable has no "${unknown[0]}"`, unknown[1].offset);
  });
}

/** The variable as a file for `variableIn`. */
export function variableHcl({ Namespace, Path, ModifyIndex, Items }: Variable): string {
  const items = Object.entries(Items).map(([name, text]) => `  ${quoted(name)} = ${quoted(text)}`);
  return [
    `namespace = ${quoted(Namespace)}`,
    `path = ${quoted(Path)}`,
    `modify_index = ${ModifyIndex}`,
    '',
    'items = {',
    ...items,
    '}',
    '',
  ].join('\n');
}

/** Doubles characters that would begin a template sequence. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[$%](?=\{)/g, (sign) => sign + sign);

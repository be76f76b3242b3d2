import { evaluateConstant, type HclValue } from '../language/hcl/constant.ts';
import { parseHcl } from '../language/hcl/parse.ts';
import { Source } from '../language/hcl/source.ts';
import type { HclBody } from '../language/hcl/syntax.ts';
import { understood } from './acl/policy-files.ts';
import { CliError } from './errors.ts';

/** A file of a record: JSON, or a single HCL block with the record's name as its label. */
interface BlockFile<T> {
  /** `node_pool` */
  readonly block: string;
  /** `pool` */
  readonly word: string;
  readonly fieldsOf: (body: HclBody, source: Source) => T;
}

/**
 * Reads a record from a file in HCL or JSON. The server checks the values.
 * @throws CliError with the file and the place
 */
export function readBlockFile<T extends object>(
  text: string,
  path: string,
  { block, word, fieldsOf }: BlockFile<T>,
): T & { readonly Name: string } {
  const file = path === '-' ? 'Standard input' : `"${path}"`;
  const isJson = text.trimStart().startsWith('{');
  const given: { readonly Name?: unknown } = isJson
    ? fromJson(text, file)
    : fromHcl(text, file, { block, word, fieldsOf });
  if (typeof given.Name === 'string' && given.Name !== '') return given as T & { Name: string };
  throw new CliError(`${file} does not name the ${word}.`);
}

function fromJson(text: string, file: string): object {
  try {
    return JSON.parse(text) as object;
  } catch (error) {
    throw new CliError(`${file} is not JSON: ${(error as Error).message}.`);
  }
}

function fromHcl<T>(text: string, file: string, { block, fieldsOf }: BlockFile<T>): object {
  const source = new Source(text);
  return understood(file, () => {
    const [first, ...more] = parseHcl(text).items;
    const isMeant = first?.kind === 'block' && first.type === block;
    if (!isMeant || more.length > 0 || first.labels.length !== 1) {
      const at = (isMeant ? more[0] : first)?.range.start.offset ?? 0;
      throw source.error(`There has to be one block: ${block} "NAME" { … }`, at);
    }
    return { Name: first.labels[0]!.text, ...fieldsOf(first.body, source) };
  });
}

interface Found {
  readonly value: HclValue;
  readonly offset: number;
}

/** The values of attributes, and of blocks without labels, which count as maps. */
export function valuesIn(body: HclBody, source: Source): ReadonlyMap<string, Found> {
  const values = new Map<string, Found>();
  for (const item of body.items) {
    const { offset } = item.range.start;
    const name = item.kind === 'attribute' ? item.name : item.type;
    if (values.has(name)) throw source.error(`"${name}" is given twice`, offset);
    if (item.kind === 'attribute') {
      values.set(name, { value: evaluateConstant(item.value, source), offset });
      continue;
    }
    if (item.labels.length > 0) throw source.error(`"${name}" takes no labels`, offset);
    const inner = [...valuesIn(item.body, source)].map(([key, one]) => [key, one.value] as const);
    values.set(name, { value: Object.fromEntries(inner), offset });
  }
  return values;
}

import { evaluateConstant, type HclValue } from '../../language/hcl/constant.ts';
import { parseHcl } from '../../language/hcl/parse.ts';
import { Source } from '../../language/hcl/source.ts';
import type { HclBlock, HclBody } from '../../language/hcl/syntax.ts';
import type { NodePoolRequest } from '../../model/node-pool/node-pool.ts';
import { understood } from '../acl/policy-files.ts';
import { CliError } from '../errors.ts';

type Given = NodePoolRequest & { readonly Name: string };

/**
 * Reads a node pool from a file in HCL or JSON. The server checks the values.
 * @throws CliError with the file and the place
 */
export function poolIn(text: string, path: string): Given {
  const name = path === '-' ? 'Standard input' : `"${path}"`;
  const given = text.trimStart().startsWith('{') ? fromJson(text, name) : fromHcl(text, name);
  if (typeof given.Name === 'string' && given.Name !== '') return given as Given;
  throw new CliError(`${name} does not name the pool.`);
}

function fromJson(text: string, name: string): NodePoolRequest {
  try {
    return JSON.parse(text) as NodePoolRequest;
  } catch (error) {
    throw new CliError(`${name} is not JSON: ${(error as Error).message}.`);
  }
}

function fromHcl(text: string, name: string): NodePoolRequest {
  const source = new Source(text);
  return understood(name, () => {
    const [block, ...more] = parseHcl(text).items;
    const isPool = block?.kind === 'block' && block.type === 'node_pool';
    if (!isPool || more.length > 0 || block.labels.length !== 1) {
      const at = (isPool ? more[0] : block)?.range.start.offset ?? 0;
      throw source.error('There has to be one block: node_pool "NAME" { … }', at);
    }
    return { Name: block.labels[0]!.text, ...poolFields(block, source) };
  });
}

function poolFields({ body }: HclBlock, source: Source): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, { value, offset }] of valuesIn(body, source)) {
    const field = poolNames[key];
    if (field === undefined) throw source.error(`A node pool has no "${key}"`, offset);
    fields[field] = key === 'scheduler_config' ? schedulerFields(value, source, offset) : value;
  }
  return fields;
}

const poolNames: Readonly<Record<string, string>> = {
  description: 'Description',
  meta: 'Meta',
  scheduler_config: 'SchedulerConfiguration',
};

function schedulerFields(value: HclValue, source: Source, offset: number): object {
  const { scheduler_algorithm: SchedulerAlgorithm, ...rest } = (value ?? {}) as Record<
    string,
    HclValue
  >;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw source.error(`scheduler_config has no "${unknown}"`, offset);
  return { SchedulerAlgorithm };
}

/** Attributes, and blocks without labels, which count as maps. */
function valuesIn(body: HclBody, source: Source) {
  const values = new Map<string, { readonly value: HclValue; readonly offset: number }>();
  for (const item of body.items) {
    const { offset } = item.range.start;
    if (item.kind === 'attribute') {
      values.set(item.name, { value: evaluateConstant(item.value, source), offset });
      continue;
    }
    if (item.labels.length > 0) throw source.error(`"${item.type}" takes no labels`, offset);
    if (values.has(item.type)) throw source.error(`"${item.type}" is given twice`, offset);
    const inner = [...valuesIn(item.body, source)].map(([name, one]) => [name, one.value] as const);
    values.set(item.type, { value: Object.fromEntries(inner), offset });
  }
  return values;
}

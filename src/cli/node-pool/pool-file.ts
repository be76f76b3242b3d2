import type { HclValue } from '../../language/hcl/constant.ts';
import type { Source } from '../../language/hcl/source.ts';
import type { HclBody } from '../../language/hcl/syntax.ts';
import type { NodePoolRequest } from '../../model/node-pool/node-pool.ts';
import { readBlockFile, valuesIn } from '../block-file.ts';

/** @throws CliError with the file and the place */
export const poolIn = (text: string, path: string) =>
  readBlockFile<NodePoolRequest>(text, path, {
    block: 'node_pool',
    word: 'pool',
    fieldsOf: poolFields,
  });

const poolNames: Readonly<Record<string, string>> = {
  description: 'Description',
  meta: 'Meta',
  scheduler_config: 'SchedulerConfiguration',
};

function poolFields(body: HclBody, source: Source): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, { value, offset }] of valuesIn(body, source)) {
    const field = Object.hasOwn(poolNames, key) ? poolNames[key] : undefined;
    if (field === undefined) throw source.error(`A node pool has no "${key}"`, offset);
    fields[field] = key === 'scheduler_config' ? schedulerFields(value, source, offset) : value;
  }
  return fields;
}

function schedulerFields(value: HclValue, source: Source, offset: number): object {
  const given = (value ?? {}) as Record<string, HclValue>;
  const { scheduler_algorithm: SchedulerAlgorithm, ...rest } = given;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw source.error(`scheduler_config has no "${unknown}"`, offset);
  return { SchedulerAlgorithm };
}

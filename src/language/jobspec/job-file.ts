/**
 * Reads job files: HCL2 to the job in the API's form.
 *
 * Invariants
 *  J1. The result depends only on the text, the values of its variables and the functions.
 *  J2. Reading ends for any text, by the bounds of the parser, of evaluation and of this file.
 *  J3. It only throws `HclError`. Each fault has a place in a text.
 *  J4. The job has the written fields without defaults. The model decides whether it is valid. `places` has
 *      the places of the fields.
 *  J5. References that only the machine can resolve (`${attr.cpu.arch}`) remain text.
 */
import { drained, type Steps } from '../../base/steps.ts';
import { type BodyShape, expandBlocks } from '../hcl/expand-blocks.ts';
import { parseJsonBody } from '../hcl/json.ts';
import { parseHcl } from '../hcl/parse.ts';
import type { HclFunction } from '../hcl/scope.ts';
import { Source } from '../hcl/source.ts';
import { suggestion } from '../hcl/suggest.ts';
import type { HclBlock, HclBody } from '../hcl/syntax.ts';
import type { Value } from '../hcl/value.ts';
import { BodyReader } from './body-reader.ts';
import type { BodyForm } from './form.ts';
import { jobBlock } from './forms/job.ts';
import { type JobFileLimits, jobFileLimits } from './limits.ts';
import { readLocals } from './locals.ts';
import { type Places, placesIn } from './places.ts';
import { Reading } from './reading.ts';
import { readDeclarations } from './variable.ts';
import { type VariableInputs, variableValues } from './variable-values.ts';

export interface JobFileOptions {
  /** The name of the text in faults. */
  readonly fileName?: string;
  readonly functions: ReadonlyMap<string, HclFunction>;
  readonly variables?: VariableInputs;
  readonly limits?: Partial<JobFileLimits>;
}

export interface JobFile {
  /** The job in the API's form, with the written fields only. Durations are integers of nanoseconds. */
  readonly job: Readonly<Record<string, unknown>>;
  readonly places: () => Places;
}

/**
 * Reads a job from a text in HCL2. A text that begins with a brace is in HCL2's JSON form.
 * Source: docs/contract/jobs.md#a-job, docs/behaviour/job-specification.md#canonical-jobs.
 * @throws HclError with every fault that could be told apart
 */
export const readJob = (text: string, options: JobFileOptions): JobFile =>
  drained(readJobInSteps(text, options));

/** `readJob` in steps, which are short unless the text is hostile. @throws HclError */
export function* readJobInSteps(text: string, options: JobFileOptions): Steps<JobFile> {
  const limits: JobFileLimits = { ...jobFileLimits, ...options.limits };
  const { fileName } = options;
  const isJson = isJsonText(text);
  const bounds = {
    textLengthMax: limits.textLengthMax,
    faultsMax: limits.faultsMax,
    ...(fileName !== undefined && { fileName }),
  };
  const tree = isJson
    ? expandBlocks(parseJsonBody(text, bounds), fileShape)
    : parseHcl(text, bounds);
  yield;
  const source = new Source(text, fileName);
  const reading = new Reading({ source, tree, isJson, functions: options.functions, limits });
  const blocks = topBlocks(tree, reading);
  const none = reading.scope(new Map());

  const declarations = readDeclarations(blocks.variable, reading, none);
  const values = variableValues(declarations, options.variables ?? {}, reading);
  reading.evaluateNoMoreIfFaulty();
  const withVariables = new Map<string, Value>([['var', values]]);
  yield;
  const local = readLocals(blocks.locals, reading, reading.scope(withVariables));
  const [job, second] = blocks.job;
  if (second !== undefined) reading.fault(second.typeRange, 'A job file holds one job');
  if (job === undefined) throw noJob(reading, tree);
  reading.evaluateNoMoreIfFaulty();

  const scope = reading.scope(new Map([...withVariables, ['local', local]]));
  const fields = yield* new BodyReader(reading).recordInSteps(job, jobBlock, scope);
  reading.faults.throwIfAny();
  return { job: fields, places: () => placesIn(fields) };
}

/** No HCL begins with a brace. */
export const isJsonText = (text: string): boolean => /^\uFEFF?\s*\{/.test(text);

const topNames = ['job', 'variable', 'locals'] as const;
type TopName = (typeof topNames)[number];

function topBlocks(
  tree: HclBody,
  reading: Reading,
): Readonly<Record<TopName, readonly HclBlock[]>> {
  const found: Record<TopName, HclBlock[]> = { job: [], variable: [], locals: [] };
  for (const item of tree.items) {
    const name = item.kind === 'block' ? item.type : item.name;
    const known = topNames.find((one) => one === name);
    if (item.kind === 'block' && known !== undefined) {
      found[known].push(item);
    } else if (known !== undefined) {
      const label = name === 'locals' ? '' : ' "name"';
      reading.fault(item.range, `"${name}" is a block: write ${name}${label} { … }`);
    } else {
      const hint = suggestion(name, topNames);
      const sentence = `A job file holds job, variable and locals blocks, not "${name.slice(0, 64)}"`;
      reading.fault(item.kind === 'block' ? item.typeRange : item.range, `${sentence}${hint}`);
    }
  }
  return found;
}

function noJob(reading: Reading, tree: HclBody) {
  const { end } = tree.range;
  const error = reading.source.error('There is no job "name" { … } in this file', end.offset);
  return reading.faults.with(error);
}

/** The keys of the JSON form that are blocks. */
function shapeOf({ forms }: BodyForm): BodyShape {
  const blocks = [...forms].flatMap(([name, form]) =>
    form.kind === 'block'
      ? [[name, { labels: form.label ? 1 : 0, body: shapeOf(form.body) }] as const]
      : [],
  );
  return { blocks: new Map(blocks) };
}

const noBlocks: BodyShape = { blocks: new Map() };
const fileShape: BodyShape = {
  blocks: new Map([
    ['job', { labels: 1, body: shapeOf(jobBlock.body) }],
    [
      'variable',
      { labels: 1, body: { blocks: new Map([['validation', { labels: 0, body: noBlocks }]]) } },
    ],
    ['locals', { labels: 0, body: noBlocks }],
  ]),
};

/**
 * Compares the tables of job files with the schemas of the job: each field has an attribute or block of its
 * kind in HCL.
 */
import { describe, expect, test } from 'vitest';
import { formatHcl } from '../../language/format/format.ts';
import type { BlockForm, BodyForm, Form } from '../../language/jobspec/form.ts';
import { jobBlock } from '../../language/jobspec/forms/job.ts';
import { readJob } from '../../language/jobspec/job-file.ts';
import { decode } from '../codec.ts';
import type { Type } from '../schema.ts';
import { isResponseOnly, shapeOf, withoutNull } from '../schema-shape.ts';
import { JobSchema } from './job.ts';

/** Fields that a job file cannot give, and the reason. */
const unsaid: Readonly<Record<string, string>> = {
  Payload: 'dispatch gives it',
  VersionTag: 'a tag is given to a version by its own request',
  Stop: 'stopping is a request of its own',
  Version: 'the server counts it',
  'TaskGroups.Scaling.Target': 'the group of the policy',
  'TaskGroups.Tasks.ScalingPolicies.Target': 'the task of the policy',
  'TaskGroups.Tasks.Templates.SecretsGrace': 'deprecated, and without effect',
};

/** Blocks whose records are moved to other fields without a change. */
const moved = ['Ports', 'AllIdentities'];

interface Said {
  readonly path: string;
  readonly form: Form;
  readonly schema: Type.TSchema;
}

const said: Said[] = [];
const missing: string[] = [];
const unknown: string[] = [];

function walk(body: BodyForm, labelField: string | undefined, schema: Type.TSchema, path: string) {
  const shape = shapeOf(schema);
  if (shape.kind !== 'record') throw new Error(`${path} is no record`);
  const restates = body.finish?.restates ?? {};
  const reached = new Set<string>(Object.values(restates).flat());
  if (labelField !== undefined && restates[labelField] === undefined) reached.add(labelField);
  for (const form of body.forms.values()) {
    const targets = restates[form.field] ?? [form.field];
    for (const target of targets) {
      reached.add(target);
      const property = shape.properties[target];
      if (property === undefined) continue;
      const isItself = restates[form.field] === undefined || moved.includes(form.field);
      if (!isItself) continue;
      const inner = withoutNull(property).schema;
      said.push({ path: `${path}${target}`, form, schema: inner });
      if (form.kind === 'block') descend(form, inner, `${path}${target}.`);
    }
  }
  for (const name of reached) if (!(name in shape.properties)) unknown.push(`${path}${name}`);
  for (const [name, property] of Object.entries(shape.properties)) {
    if (!reached.has(name) && !isResponseOnly(property)) missing.push(`${path}${name}`);
  }
}

function descend(form: BlockForm, schema: Type.TSchema, path: string) {
  const shape = shapeOf(schema);
  const inner = shape.kind === 'list' ? shape.item : shape.kind === 'map' ? shape.value : schema;
  walk(form.body, form.label?.field, withoutNull(inner).schema, path);
}

walk(jobBlock.body, jobBlock.label?.field, JobSchema, '');

test('every field can be given, or there is a reason', () => {
  expect([...new Set(missing)].sort()).toEqual(Object.keys(unsaid).sort());
});

test('no attribute sets a field that no schema has', () => {
  expect(unknown).toEqual([]);
});

/** The kind of a schema's value, in the words of the tables. */
function kindOf(schema: Type.TSchema): string {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'string':
      return 'text';
    case 'boolean':
      return 'flag';
    case 'number':
      return shape.duration ? 'duration' : 'whole';
    case 'free':
      return 'free';
    case 'record':
      return 'block one';
    case 'list': {
      const item = kindOf(withoutNull(shape.item).schema);
      return item === 'block one' ? 'block list' : `${item}s`;
    }
    case 'map': {
      const value = kindOf(withoutNull(shape.value).schema);
      return value === 'block one' ? 'block by-label' : `${value}-map`;
    }
  }
}

describe('the forms of job files agree with the schemas', () => {
  test.each(said.map(({ path, form, schema }) => [path, form, schema] as const))(
    '%s',
    (_, form, schema) => {
      // Some of these blocks become a list, and a single one a field of its own.
      const isMoved = moved.includes(form.field);
      const written = form.kind === 'block' ? `block ${form.many}` : form.kind;
      expect(isMoved ? ['block list', 'block one'] : [written]).toContain(kindOf(schema));
    },
  );
});

/** A job file with every attribute and block, made from the tables. */
function sample(name: string, form: Form): string {
  switch (form.kind) {
    case 'text':
      return `${name} = "text"\n`;
    case 'whole':
      return `${name} = 7\n`;
    case 'flag':
      return `${name} = true\n`;
    case 'duration':
      return `${name} = "7s"\n`;
    case 'texts':
      return `${name} = ["a", "b"]\n`;
    case 'text-map':
      return `${name} {\n a = "b"\n}\n`;
    case 'texts-map':
      return `${name} {\n a = ["b"]\n}\n`;
    case 'free-map':
      return `${name} {\n a = [1, { b = true }]\n c "d" {\n e = 1\n }\n}\n`;
    case 'block':
      return block(name, form);
  }
}

/** Operators that are other forms of an operator have their own tests. */
const isAnother = (name: string): boolean =>
  /^(semver|regexp|version|set_contains.*|distinct_.*)$/.test(name);

function block(name: string, form: BlockForm): string {
  const label = form.label === undefined ? '' : name === 'scaling' ? ' "cpu"' : ' "label"';
  const inner = [...form.body.forms]
    .filter(([inside]) => !isAnother(inside))
    .map(([inside, innerForm]) => sample(inside, innerForm));
  return `${name}${label} {\n${inner.join('')}}\n`;
}

test('a file with every field is read, and the API knows all its fields', () => {
  const text = block('job', jobBlock);
  const jobOf = (from: string) =>
    JSON.parse(JSON.stringify(readJob(from, { functions: new Map() }).job));
  const job = jobOf(text);
  const { value } = decode(JobSchema, job, { unknown: 'refuse', checkValues: false });
  expect(JSON.parse(JSON.stringify(value))).toEqual(job);
  expect(jobOf(formatHcl(text))).toEqual(job);
});

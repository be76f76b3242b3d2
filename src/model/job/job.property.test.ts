import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decode } from '../codec.ts';
import { isSame } from '../same.ts';
import { arbitraryJob } from './arbitrary-job.test-helper.ts';
import { canonicalizeJob } from './canonicalize.ts';
import { type Job, type JobInput, JobSchema } from './job.ts';
import { validateJob } from './validate.ts';
import { jobWarnings } from './warnings.ts';

const read = (input: unknown): JobInput => {
  const { value, unknown } = decode(JobSchema, input, { checkValues: false });
  expect(unknown).toEqual([]);
  return value;
};
const accepted = (input: unknown): Job => canonicalizeJob(read(input));

test('a valid job has no fault once it is canonical', () => {
  fc.assert(
    fc.property(arbitraryJob(), (input) => {
      expect(validateJob(accepted(input))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('canonicalizing twice changes nothing, and a written job is read back unchanged', () => {
  fc.assert(
    fc.property(arbitraryJob(), (input) => {
      const job = accepted(input);
      expect(canonicalizeJob(job)).toEqual(job);
      expect(isSame(accepted(JSON.parse(JSON.stringify(job))), job)).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test('the random jobs have every field of the schema', () => {
  const seen = new Set<string>();
  for (const job of fc.sample(arbitraryJob(), { numRuns: 300, seed: 1 })) note(job, seen);
  const missing = fieldsOf(JobSchema).filter((name) => !seen.has(name));
  // `Specs` replaces it.
  expect(missing).toEqual(['Spec']);
});

test('a job with any value changed to anything is validated without an error', () => {
  const junk = fc.oneof(
    fc.constantFrom<unknown>(null, '', 0, -1, 2 ** 53 - 1, '30s', '\0', '${', [], {}, true),
    fc.string(),
    fc.maxSafeInteger(),
  );
  fc.assert(
    fc.property(arbitraryJob(), fc.nat(), junk, (input, place, value) => {
      let job: Job;
      try {
        job = canonicalizeJob(
          decode(JobSchema, changed(input, place, value), { checkValues: false }).value,
        );
      } catch (error) {
        expect(error).toMatchObject({ name: 'RosterError', status: 400 });
        return;
      }
      for (const fault of validateJob(job)) expect(fault.pointer).toMatch(/^\//);
      jobWarnings(job);
    }),
    { numRuns: 250 },
  );
});

function note(value: unknown, seen: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (inner !== undefined) seen.add(name);
    note(inner, seen);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a schema of any shape.
function fieldsOf(schema: any): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap(fieldsOf);
  if (schema.items) return fieldsOf(schema.items);
  if (schema.patternProperties) return Object.values(schema.patternProperties).flatMap(fieldsOf);
  return Object.entries<{ 'x-response-only'?: boolean }>(schema.properties ?? {}).flatMap(
    ([name, property]) => (property['x-response-only'] ? [] : [name, ...fieldsOf(property)]),
  );
}

/** The job with one of its values replaced; `place` chooses which. */
function changed(job: unknown, place: number, by: unknown): unknown {
  const copy = structuredClone(job);
  const places: [object, string][] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      places.push([value, key]);
      walk(inner);
    }
  };
  walk(copy);
  const [parent, key] = places[place % places.length]!;
  Object.assign(parent, { [key]: by });
  return copy;
}

/** Every text is read or refused soon, with the places of its faults. */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { HclError } from '../hcl/errors.ts';
import { standardFunctions } from '../hcl/functions/standard.ts';
import { readJob } from './job-file.ts';

const { clock, ids } = new SimulatedWorld(1);
const functions = standardFunctions({ clock, ids });

const examples = new URL('../../../examples/', import.meta.url);
const corpus = readdirSync(examples)
  .filter((name) => name.endsWith('.hcl'))
  .map((name) => readFileSync(new URL(name, examples), 'utf8'));

/** `read`, or the sentences of the faults, whose places are checked. */
function outcome(text: string): 'read' | readonly string[] {
  try {
    const { job, places } = readJob(text, { functions, fileName: 'job.hcl' });
    JSON.stringify(job);
    places();
    return 'read';
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    const lines = text.split('\n');
    for (const { fileName, line, column } of error.faults) {
      expect(fileName).toBe('job.hcl');
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1);
    }
    expect(error.faults.length).toBeGreaterThan(0);
    return error.faults.map(({ sentence }) => sentence);
  }
}

test('the corpus is read', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(10);
  for (const text of corpus) expect(outcome(text)).toBe('read');
});

test('texts that differ from the corpus in a few places', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '${',
      '%{',
      '=',
      '\n',
      '<<E\n',
      '\\',
      '$',
      '.',
      'null',
    ),
    fc.constantFrom('dynamic "group" {', 'for_each = ', 'var.', 'local.x', '1e400', '-', 'content'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(30),
    piece,
  });
  let refused = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...corpus),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (text, changes) => {
        const changed = changes.reduce((before, { at, cut, piece: put }) => {
          const offset = Math.floor(at * before.length);
          return before.slice(0, offset) + put + before.slice(offset + cut);
        }, text);
        if (outcome(changed) !== 'read') refused++;
      },
    ),
    { numRuns: 1500 },
  );
  expect(refused).toBeGreaterThan(300);
});

test('pieces of the corpus in other orders', () => {
  const lines = corpus.flatMap((text) => text.split('\n'));
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...lines), { maxLength: 40 }), (some) => {
      outcome(`job "x" {\n${some.join('\n')}\n}\n`);
    }),
    { numRuns: 1000 },
  );
});

test('JSON of any shape', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.json(), (some, other) => {
      outcome(`{"job": {"a": ${some}}, "variable": ${other}, "locals": ${some}}`);
      outcome(`{"job": ${some}}`);
    }),
    { numRuns: 500 },
  );
});

const many = (count: number, one: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => one(index)).join('');

const hostile: readonly (readonly [title: string, text: string, sentence: RegExp])[] = [
  ['deep blocks', `${'a {\n'.repeat(50_000)}`, /nested more than/],
  ['deep lists', `job "a" {\nname = ${'['.repeat(50_000)}`, /nested more than/],
  ['long chains', `job "a" {\nname = 1${' + 1'.repeat(50_000)}\n}\n`, /nested more than/],
  [
    'doubling locals',
    `locals {\n a0 = "xxxxxxxxxx"\n${many(60, (index) => ` a${index + 1} = "\${local.a${index}}\${local.a${index}}"\n`)}}\njob "a" {}\n`,
    /larger than|more than/,
  ],
  [
    'doubling lists',
    `locals {\n a0 = [1]\n${many(60, (index) => ` a${index + 1} = [local.a${index}, local.a${index}]\n`)}}\njob "a" {\n config = local.a60\n}\n`,
    /larger than|more than/,
  ],
  [
    'loops in loops',
    `locals {\n a = range(1000)\n b = [for x in local.a : [for y in local.a : [for z in local.a : 1]]]\n}\njob "a" {}\n`,
    /more than|larger than/,
  ],
  [
    'nested dynamic blocks',
    `locals {\n a = range(1000)\n}\njob "a" {\n dynamic "group" {\n for_each = local.a\n labels = [group.value]\n content {\n dynamic "task" {\n for_each = local.a\n labels = [task.value]\n content {}\n }\n }\n }\n}\n`,
    /"dynamic" makes more than 10000 blocks/,
  ],
  [
    'a dynamic block with much content',
    `job "a" {\n dynamic "group" {\n for_each = range(1000)\n labels = ["a"]\n content {\n${'constraint {}\n'.repeat(20_000)} }\n }\n}\n`,
    /takes more than/,
  ],
  [
    'a long chain of locals',
    `locals {\n${many(5000, (index) => ` a${index} = local.a${index + 1}\n`)} a5000 = local.a0\n}\njob "a" {}\n`,
    /need each other/,
  ],
  [
    'locals that all need each other',
    `locals {\n${many(5000, (index) => ` a${index} = length([local])\n`)}}\njob "a" {}\n`,
    /takes more than|need each other/,
  ],
  [
    'many variables',
    `${many(2000, (index) => `variable "a${index}" {}\n`)}job "a" {}\n`,
    /at most/,
  ],
  ['many faults', `job "a" {\n${many(5000, (index) => `a${index} = 1\n`)}}\n`, /has no attribute/],
  ['too long', `job "a" {\n${' '.repeat(2 ** 21)}}\n`, /longer than/],
];

test.each(hostile)('%s', (_, text, sentence) => {
  const faults = outcome(text);
  expect(faults).not.toBe('read');
  expect((faults as readonly string[]).length).toBeLessThanOrEqual(20);
  expect((faults as readonly string[]).at(-1)).toMatch(sentence);
});

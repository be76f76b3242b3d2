import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cliLimits } from '../limits.ts';
import { readTail } from './tail.ts';

const { firstBytes, allBytesMax } = cliLimits.log;

async function tailOf(log: Uint8Array, lines: number) {
  const asked: number[] = [];
  const tail = await readTail((bytes) => {
    asked.push(bytes);
    return (async function* () {
      yield log.subarray(Math.max(0, log.length - bytes));
    })();
  }, lines);
  return { text: Buffer.from(tail).toString(), asked };
}

const text = (log: string, lines: number) =>
  tailOf(Buffer.from(log), lines).then((tail) => tail.text);

test.each([
  ['a\nb\nc\n', 2, 'b\nc\n'],
  ['a\nb\nc', 2, 'b\nc'],
  ['a\nb\nc\n', 3, 'a\nb\nc\n'],
  ['a\nb\nc\n', 9, 'a\nb\nc\n'],
  ['a\n\n\n', 2, '\n\n'],
  ['\n', 1, '\n'],
  ['\nb\n', 1, 'b\n'],
  ['\nb\n', 2, '\nb\n'],
  ['', 3, ''],
  ['a\nb\n', 0, ''],
])('of %j the last %i lines are %j', async (log, lines, expected) => {
  expect(await text(log, lines)).toBe(expected);
});

test('is what splitting the whole log gives', async () => {
  const logs = fc.string({ unit: fc.constantFrom('a', '\n'), maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(logs, fc.integer({ min: 1, max: 8 }), async (log, lines) => {
      const whole = log.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      expect(await text(log, lines)).toBe(whole.slice(-lines).join(''));
    }),
  );
});

test('reads more while lines are missing, up to a limit', async () => {
  const line = Buffer.from(`${'x'.repeat(9_999)}\n`);
  const log = Buffer.concat(Array.from({ length: 20 }, () => line));
  const { text: tail, asked } = await tailOf(log, 5);
  expect(tail).toHaveLength(5 * line.length);
  expect(asked).toEqual([firstBytes, firstBytes * 4]);
  const endless = await tailOf(Buffer.alloc(allBytesMax + 9, 'x'), 1);
  expect(endless.text).toHaveLength(allBytesMax);
});

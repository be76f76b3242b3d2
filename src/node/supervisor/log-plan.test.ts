import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterStep, type LogPosition, planLogStep } from './log-plan.ts';

/** Runs the plan over writes, like the writer, and returns the files. */
function filesOf(writes: readonly string[], maxFileBytes: number, lookBackBytes: number): string[] {
  const files = [''];
  let position: LogPosition = { fileBytes: 0, inLine: false };
  for (const write of writes) {
    let rest = Buffer.from(write);
    while (rest.length > 0) {
      const step = planLogStep(rest, position, { maxFileBytes, lookBackBytes });
      files[files.length - 1] += rest.subarray(0, step.bytes).toString();
      position = afterStep(position, rest, step);
      rest = rest.subarray(step.bytes);
      if (step.rotate) files.push('');
      expect(step.bytes > 0 || step.rotate).toBe(true);
    }
  }
  return files;
}

test.each([
  ['all fits', ['ab\ncd\n'], 10, 5, ['ab\ncd\n']],
  ['breaks after a line', ['ab\ncd\nef\ngh\n'], 8, 4, ['ab\ncd\n', 'ef\ngh\n']],
  ['a line longer than the look-back is cut', ['abcdefghijkl\n'], 8, 4, ['abcdefgh', 'ijkl\n']],
  ['a newline too far back is no break', ['a\nbcdefghij\n'], 8, 4, ['a\nbcdefg', 'hij\n']],
  ['a line begun in pieces moves on whole', ['12345\n', 'ab', 'cd\n'], 8, 4, ['12345\n', 'abcd\n']],
  ['a whole line fits in the rest', ['12345\n', 'a\n'], 8, 4, ['12345\na\n']],
  ['an exact fit does not rotate', ['1234567\n'], 8, 4, ['1234567\n']],
])('%s', (_name, writes, max, lookBack, files) => {
  expect(filesOf(writes, max, lookBack)).toEqual(files);
});

describe('any writes', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\n'), { maxLength: 60 }).map((c) => c.join(''));
  const limits = fc
    .integer({ min: 1, max: 24 })
    .chain((max) =>
      fc.record({ max: fc.constant(max), back: fc.integer({ min: 0, max: Math.floor(max / 2) }) }),
    );

  test('the files together are the stream, none is too long, short lines are whole', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), limits, (writes, { max, back }) => {
        const files = filesOf(writes, max, back);
        const stream = writes.join('');
        expect(files.join('')).toBe(stream);
        for (const file of files) expect(file.length).toBeLessThanOrEqual(max);
        let offset = 0;
        for (const file of files.slice(0, -1)) {
          offset += file.length;
          const start = stream.lastIndexOf('\n', offset - 1) + 1;
          const end = stream.indexOf('\n', offset);
          const line = stream.slice(start, end === -1 ? undefined : end + 1);
          if (start < offset) expect(line.length).toBeGreaterThan(back);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

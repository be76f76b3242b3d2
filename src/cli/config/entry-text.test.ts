import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entryFileOf } from './entry-file.ts';
import { entryText, fieldsText } from './entry-text.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.array(fc.string({ unit: 'grapheme' })).map((lines) => `${lines.join('\n')}\n`),
  fc.constantFrom(
    '${a}',
    '%{b}',
    '$${c}',
    'EOT\n',
    'a\n  EOT  \n',
    '\u009b31m',
    '\u2028',
    '\u202e',
  ),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.boolean(), tie('list'), tie('map')),
  list: fc.oneof(fc.array(text, { maxLength: 3 }), fc.array(tie('map'), { maxLength: 3 })),
  map: fc.dictionary(fc.oneof(fc.constantFrom('Name', 'a b'), text), tie('any'), { maxKeys: 3 }),
})).any;

test('the file of an entry reads back as the same entry, without control characters', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[A-Z][a-z]{0,8}$/), value), (fields) => {
      const file = fieldsText(fields);
      expect(JSON.parse(JSON.stringify(entryFileOf(`${file}\n`, 'file').entry))).toEqual(
        JSON.parse(JSON.stringify(fields)),
      );
      expect(file.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
    }),
    { numRuns: 500 },
  );
});

test('a text with several lines keeps its lines', () => {
  expect(fieldsText({ Certificate: '-----BEGIN\nabc=\n' })).toBe(
    'Certificate = <<EOT\n-----BEGIN\nabc=\nEOT',
  );
});

test('unset fields are left out', () => {
  const entry = { Kind: 'mesh', A: null, B: { C: false, D: '' }, E: [], F: 0, G: { H: 1 } };
  expect(entryText({ ...entry, CreateIndex: 1, ModifyIndex: 2 })).toBe(
    '# ModifyIndex 2\nKind = "mesh"\nG = {\n  H = 1\n}',
  );
});

import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { fieldLines, recordLines, tableLines } from './table.ts';

const uuid = '11111111-1111-4111-8111-111111111111';
const rows = [
  ['ID', 'Name', 'Reason'],
  [uuid, 'web', 'the node has too little memory left for the task'],
  ['22222222', 'database', '-'],
];

test('a table that fits is as wide as its texts', () => {
  const lines = tableLines(rows, 200)!;
  expect(lines.map((line) => line.length)).toEqual([54, 96, 49]);
  expect(tableLines(rows, Number.POSITIVE_INFINITY)).toEqual(lines);
});

test('a table that is too wide wraps sentences between their words', () => {
  expect(tableLines(rows, 80)).toEqual([
    'ID                                    Name      Reason',
    `${uuid}  web       the node has too little memory`,
    '                                                left for the task',
    '22222222                              database  -',
  ]);
});

test('a table that is too wide leaves out columns that say nothing, or the same in every row', () => {
  const wide = [
    ['ID', 'Version', 'Node', 'Canaries', 'Status'],
    ['web[0]', '0', 'machine-1', '-', 'running'],
    ['web[1]', '0', 'machine-1', '-', 'pending'],
  ];
  const cut = (columns: number) => tableLines(wide, columns);
  expect(cut(45)![0]).toBe('ID      Version  Node       Canaries  Status');
  expect(cut(44)).toEqual([
    'ID      Version  Node       Status',
    'web[0]  0        machine-1  running',
    'web[1]  0        machine-1  pending',
  ]);
  expect(cut(30)).toEqual([
    'ID      Version  Status',
    'web[0]  0        running',
    'web[1]  0        pending',
    'In every row: Node machine-1',
  ]);
  expect(cut(20)).toEqual([
    'ID      Status',
    'web[0]  running',
    'web[1]  pending',
    'In every row:',
    'Version 0, Node',
    'machine-1',
  ]);
  expect(cut(14)).toBeUndefined();
});

test('a table that does not fit even so is not made: its records stand one below the other', () => {
  expect(tableLines(rows, 60)).toBeUndefined();
  expect(recordLines(rows, 40)).toEqual([
    `ID      ${uuid}`,
    'Name    web',
    'Reason  the node has too little memory',
    '        left for the task',
    '',
    'ID      22222222',
    'Name    database',
    'Reason  -',
  ]);
});

test('values of fields are wrapped beside their names', () => {
  const fields = [
    ['Name', 'web'],
    ['Description', 'one two three'],
  ] as const;
  expect(fieldLines(fields, 22)).toEqual([
    'Name         web',
    'Description  one two',
    '             three',
  ]);
});

test('colours and wide characters do not count wrongly', () => {
  const { green } = picocolors.createColors(true);
  const colored = [
    ['Status', 'Name'],
    [green('running'), '日本'],
    ['dead', 'x'],
  ];
  expect(tableLines(colored, 80)!.map(stripVTControlCharacters)).toEqual([
    'Status   Name',
    'running  日本',
    'dead     x',
  ]);
});

const word = fc.stringMatching(/^[a-z0-9=.]{1,40}$/);
const cell = fc.array(word, { minLength: 1, maxLength: 8 }).map((all) => all.join(' '));

test('no word is ever broken or lost, and a table never exceeds the width', () => {
  const table = fc.integer({ min: 1, max: 6 }).chain((count) =>
    fc.array(fc.array(cell, { minLength: count, maxLength: count }), {
      minLength: 2,
      maxLength: 6,
    }),
  );
  fc.assert(
    fc.property(table, fc.integer({ min: 20, max: 120 }), (given, columns) => {
      const lines = tableLines(given, columns);
      const shown = (lines ?? recordLines(given, columns)).join('\n').split(/\s+/);
      const wanted = given.flat().flatMap((text) => text.split(' '));
      for (const one of wanted) expect(shown.map((text) => text.replace(/,$/, ''))).toContain(one);
      for (const line of lines ?? []) expect(line.length).toBeLessThanOrEqual(columns);
    }),
  );
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commandList, commandsIn, type Found, listText, page } from './command-list.ts';

const checkout = fileURLToPath(new URL('..', import.meta.url));

test('the list of commands is current: npm run docs writes it', async () => {
  expect(readFileSync(join(checkout, page), 'utf8')).toBe(await commandList());
});

const command = (words: string, summary = 'Do it.') => ({
  words: words.split(' '),
  summary,
  definition: {},
  run: async () => 0,
});
const found = (words: string, summary?: string): Found => ({
  command: command(words, summary),
  file: `./${words.replaceAll(' ', '/')}.ts`,
  name: 'made',
});

test('commands and the commands of nouns are found among the exports of a file', () => {
  const scale = command('job scale');
  const create = command('acl role create');
  const list = command('acl role list');
  const exports = {
    scale,
    roles: { create, list },
    limit: 5,
    options: [],
    none: null,
    argument: { name: 'JOB', kind: 'job' },
    helper: () => undefined,
  };
  expect(commandsIn('./a.ts', exports)).toEqual([
    { command: scale, file: './a.ts', name: 'scale' },
    { command: create, file: './a.ts', name: 'roles.create!' },
    { command: list, file: './a.ts', name: 'roles.list!' },
  ]);
});

test('the list has the groups in the order of the help, and each group in that of the alphabet', () => {
  const given = ['version', 'zebra', 'acl why', 'job scale', 'agent', 'job eval', 'acl token list'];
  const words = listText(given.map((text) => found(text))).matchAll(/words: \[(.*)\]/g);
  expect([...words].map(([, text]) => text!.replaceAll(/[',]/g, ''))).toEqual([
    'agent',
    'job eval',
    'job scale',
    'acl token list',
    'acl why',
    'version',
    'zebra',
  ]);
});

test('an entry is written as the formatter wants it', () => {
  const summary = `Say why ${'it '.repeat(30)}is a job's.`;
  expect(listText([found('job why', summary)])).toContain(`[
  {
    words: ['job', 'why'],
    summary:
      "${summary}",
    load: async () => (await import('./job/why.ts')).made,
  },
];
`);
});

test.each([
  [
    'words that two commands have',
    ['job why', 'job why'],
    '"job why" is a command in ./job/why.ts',
  ],
  ['a group without a description', ['zoo open'], 'the group "zoo" needs a description'],
  ['a lower group without one', ['job zoo open'], 'the group "job zoo" needs a description'],
])('%s are refused', (_, given, message) => {
  expect(() => listText(given.map((text) => found(text)))).toThrow(message);
});

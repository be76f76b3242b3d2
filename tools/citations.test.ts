import { expect, test } from 'vitest';
import { checkCitations } from './citations.ts';
import { makeTree } from './tree.test-helper.ts';

const pages = {
  'docs/jobs.md': '# Jobs\n\n## Stop a job\n\n## Stop and `purge`\n\n```md\n## In a block\n```\n',
  'src/state/DESIGN.md': '# State\n\n## Invariants\n',
};

test.each<[what: string, file: string, text: string]>([
  ['a page', 'src/a.ts', '/** Source: docs/jobs.md. */\n'],
  ['a heading', 'src/a.ts', '/** Source: docs/jobs.md#stop-a-job. */\n'],
  ['two headings', 'sim/a.ts', '/**\n * docs/jobs.md#stop-a-job, #stop-and-purge.\n */\n'],
  ['a heading by its words', 'src/a.ts', '// docs/jobs.md § "Stop a job"\n'],
  ['a page beside the file', 'src/state/a.ts', '// DESIGN.md#invariants\n'],
  ['a heading from a document', 'README.md', '[Stop](docs/jobs.md#stop-a-job)\n'],
  ['the name of any file', 'src/a.ts', "// Writes notes.md.\nexport const path = 'none.md#x';\n"],
])('accepts %s', (_, file, text) => {
  expect(checkCitations(makeTree({ ...pages, [file]: text }))).toEqual([]);
});

test.each<[what: string, file: string, text: string, fault: string]>([
  [
    'a page that is not there',
    'src/a.ts',
    '// docs/none.md\n',
    'src/a.ts:1 cites docs/none.md: there is no such page',
  ],
  [
    'a heading of a page that is not there',
    'test/a.mjs',
    '\n// none.md#x\n',
    'test/a.mjs:2 cites none.md: there is no such page',
  ],
  [
    'a heading that is not there',
    'src/a.ts',
    '/** docs/jobs.md#start. */\n',
    'src/a.ts:1 cites docs/jobs.md#start: the page has no such heading',
  ],
  [
    'a second heading that is not there',
    'src/a.ts',
    '/** docs/jobs.md#stop-a-job, #start. */\n',
    'src/a.ts:1 cites docs/jobs.md#start: the page has no such heading',
  ],
  [
    'a heading that is only in a block of code',
    'bench/a.ts',
    '// docs/jobs.md#in-a-block\n',
    'bench/a.ts:1 cites docs/jobs.md#in-a-block: the page has no such heading',
  ],
  [
    'words that are no heading',
    'tools/a.ts',
    '// docs/jobs.md § Start.\n',
    'tools/a.ts:1 cites docs/jobs.md#start: the page has no such heading',
  ],
  [
    'a heading that is not there, from a document',
    'docs/a.md',
    'See [it](jobs.md#start).\n',
    'docs/a.md:1 cites docs/jobs.md#start: the page has no such heading',
  ],
  ...['facts/jobs.md §1', 'facts §2', 'spec/3-jobs.md', 'DESIGN §4', 'SERVERS.md', 'PROOFS.md'].map(
    (note): [string, string, string, string] => [
      `the note ${note}`,
      'src/a.ts',
      `test('as ${note} has it', () => {});\n`,
      `src/a.ts:1 cites "${note.replace(/(?<=DESIGN §|facts §|\.md).*/, '')}": cite a page of this repository`,
    ],
  ),
])('refuses %s', (_, file, text, fault) => {
  expect(checkCitations(makeTree({ ...pages, [file]: text }))).toEqual([fault]);
});

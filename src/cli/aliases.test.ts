import { expect, test } from 'vitest';
import { aliases, withoutAlias } from './aliases.ts';
import { commands } from './commands.generated.ts';
import { everyOption } from './definition.ts';
import { foreignWord, foreignWords } from './foreign-words.ts';
import { groups } from './groups.ts';
import { run } from './harness.test-helper.ts';
import { locate, optionWords } from './words.ts';

const named = new Set(commands.map(({ words }) => words.join(' ')));
const begins = (name: string, first: string) => name === first || name.startsWith(`${first} `);

test.each(Object.entries(aliases))('%s means the command %s', (alias, target) => {
  expect(named.has(target.replace(/ -.*$/, '').replace(/ service-intentions$/, ''))).toBe(true);
  expect(locate(target.split(' ')).entry).toBeDefined();
  // It hides no command and no group.
  const hidden = [...named, ...Object.keys(groups)]
    .filter((name) => begins(name, alias))
    .filter((name) => withoutAlias(name.split(' ')).join(' ') !== name);
  expect(hidden).toEqual([]);
});

test.each(Object.entries(foreignWords))('%s is no command and no alias', (word, sentence) => {
  const known = [...named, ...Object.keys(groups), ...Object.keys(aliases)];
  expect(known.filter((name) => name === word)).toEqual([]);
  for (const [, told] of sentence.matchAll(/"roster ([^"]+)"/g)) {
    const words = told!
      .split(' ')
      .filter((one) => !one.startsWith('-') && one !== one.toUpperCase());
    const { entry, group } = locate(words);
    expect([told, entry ?? group]).toEqual([told, expect.anything()]);
  }
});

test('options of other control planes mean options of commands, and hide none', async () => {
  const definitions = await Promise.all(
    commands.map(async ({ load }) => (await load()).definition),
  );
  const known = new Set(definitions.flatMap((one) => everyOption(one).map(({ name }) => name)));
  for (const [word, name] of Object.entries(optionWords)) {
    expect([word, known.has(word), known.has(name)]).toEqual([word, false, true]);
  }
});

test.each([
  ['run web.hcl', 'job run web.hcl'],
  ['-json run -detach web.hcl', '-json job run -detach web.hcl'],
  ['help run', 'help job run'],
  ['acl -json token self', 'acl token read -json'],
  ['namespace inspect a', 'namespace read -json a'],
  ['exec -t 8e6ec7a1 stop', 'alloc exec -t 8e6ec7a1 stop'],
  ['services', 'service list'],
  ['plan web.hcl', 'job plan web.hcl'],
  ['plan -diff=false web.hcl', 'job plan -diff=false web.hcl'],
  ['plan list', 'plan list'],
  ['help plan', 'help plan'],
  ['services register web', 'services register web'],
  ['job run run', 'job run run'],
  ['-namespace run job status', '-namespace run job status'],
  ['constructor', 'constructor'],
  ['', ''],
])('%s is read as %s', (given, expected) => {
  const words = (text: string) => text.split(' ').filter(Boolean);
  expect(withoutAlias(words(given))).toEqual(words(expected));
});

test.each([
  ['volume create x', 'volume'],
  ['catalog datacenters', 'catalog datacenters'],
  ['catalog', 'catalog'],
  ['toString', undefined],
])('the words %s belong to %s', (given, expected) => {
  expect(foreignWord(given.split(' '))?.name).toBe(expected);
});

test.each([
  ['volume status', "Error: Unknown command 'volume'\nNodes offer host volumes"],
  ['help kv', "Error: Unknown command 'kv'\nKey and value pairs are variables here"],
  ['intention create web db', `Error: Unknown command 'intention create'\nWrite an entry`],
])('roster %s is refused with the way to the same end', async (line, stderr) => {
  const ran = await run(line.split(' '));
  expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(stderr) });
});

test('an alias runs its command, and is completed like it', async () => {
  const server = { 'GET /v1/jobs': { json: [] } };
  const { exitCode, stdout } = await run(['job', 'list'], { server });
  expect([exitCode, stdout]).toEqual([
    0,
    'There are no jobs. Run one with "roster job run FILE".\n',
  ]);
  expect((await run(['__complete', 'run', ''])).stdout).toBe(':file\n');
});

/** The runner of guides itself: what it understands, and that it finds what is wrong in a guide. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { directory, endAgents, newDirectory } from '../support/agent.ts';
import { stepsOf } from './blocks.ts';
import { runGuide } from './guide.ts';
import { matchesOutput } from './match-output.ts';
import { openShell } from './shell.ts';

afterAll(endAgents);

const fence = '```';
const block = (language: string, text: string) => `${fence}${language}\n${text}\n${fence}\n`;

describe('what a guide asks for', () => {
  test('commands, what they print, files and agents, in their order', () => {
    const guide = [
      'Write `a.hcl`:\n',
      block('hcl', 'acl = "read"'),
      'In a terminal of its own:\n',
      block('sh', 'roster agent --dev'),
      'In another terminal of its own:\n',
      block('sh', 'roster agent --servers a'),
      'And `self`:\n',
      block('sh', 'false'),
      block('output', 'No.\n[exit code 1]'),
      'End the agent with Ctrl-C, and go on:\n',
      block('sh', 'true'),
    ].join('\n');
    expect(stepsOf(guide)).toEqual([
      { kind: 'file', name: 'a.hcl', text: 'acl = "read"\n', line: 3 },
      { kind: 'agent', text: 'roster agent --dev\n', line: 9 },
      { kind: 'beside', text: 'roster agent --servers a\n', line: 15 },
      { kind: 'shell', text: 'false\n', line: 21, exitCode: 1, output: 'No.' },
      { kind: 'shell', text: 'true\n', line: 32, exitCode: 0, endsAgents: true },
    ]);
  });

  test.each([
    ['of no language that is known', block('hcl', 'x'), 'line 1: a block of "hcl" needs "`NAME`:"'],
    [
      'of output alone',
      `${block('sh', 'x')}Then:\n${block('output', 'x')}`,
      'line 5: output stands',
    ],
    ['that is indented', `- so:\n  ${fence}sh\n  x\n  ${fence}`, 'line 2: a block begins'],
    ['without an end', `${fence}sh\nx`, 'line 1: the block has no end'],
  ])('a block %s is a fault', (_, guide, fault) => {
    expect(() => stepsOf(guide)).toThrow(fault);
  });
});

test.each<[boolean, string, string]>([
  [true, 'a b\n', 'a b'],
  [false, 'a b\nc\n', 'a b'],
  [false, 'a b\n', 'a b\nc'],
  [true, 'id 1234 here\n', 'id … here'],
  [false, 'id 1234 there\n', 'id … here'],
  [true, 'a\nb\nc\nd\n', 'a\n…\nd'],
  [true, 'a\nd\n', 'a\n…\nd'],
  [false, 'a\nb\n', 'a\n…\nd'],
  [true, 'ID          Name\n1234567890  x\n', 'ID  Name\n…   x'],
  [false, '  indented\n', 'x\n  indented'],
  [false, 'x\nindented\n', 'x\n  indented'],
  [true, 'Evaluation e1 (job-register) is pending\nx\n', 'x'],
  [false, 'Evaluation e1 (job-register) is failed\nx\n', 'x'],
  [false, 'x\n', 'Evaluation … (job-register) is pending\nx'],
  [true, '[a] (b) $c.*\n', '[a] (b) $c.*'],
  [false, 'abc\n', 'a.c'],
])('%s: %j as %j', (matches, printed, shown) => {
  expect(matchesOutput(printed, shown)).toBe(matches);
});

test('one shell goes on from block to block, and stops in a block where a command fails', async () => {
  const env = { PATH: process.env.PATH ?? '' };
  const shell = openShell({ cwd: directory, env, directory: newDirectory('blocks') });
  expect(await shell.run('cd /\nx=1\n')).toMatchObject({ exitCode: 0, failedLine: 0 });
  expect(await shell.run('echo $x; pwd\n(exit 3)\necho not reached\n')).toEqual({
    exitCode: 3,
    output: '1\n/\n',
    failedLine: 2,
  });
  // Neither waits for input, nor takes what follows for its own.
  expect(await shell.run('cat\necho "wrong" >&2\n')).toMatchObject({ output: 'wrong\n' });
  await expect(shell.run('echo bye; exit\n')).rejects.toThrow('bye');
  await shell.close();
});

test('every output that differs is told, and the first command that fails, each with its line', async () => {
  const path = join(directory, 'wrong.md');
  const guide = [
    block('sh', 'echo one'),
    block('output', 'eins'),
    'Write `two.txt`:\n',
    block('json', 'it\'s "$x"'),
    block('sh', 'cat two.txt'),
    block('output', 'it\'s "$x"'),
    block('sh', 'true\ncat three.txt'),
    block('sh', 'echo not reached'),
    block('output', 'x'),
  ].join('');
  writeFileSync(path, guide);
  const options = { cwd: newDirectory('reader') };
  const fault = await runGuide(path, options).catch((error: Error) => error.message);
  expect(fault).toBe(
    [
      `${path}:1: the output differs\n--- in the guide\neins\n\n--- printed\none\n`,
      `${path}:19: exit code 1, not 0; it printed:\ncat: three.txt: No such file or directory\n`,
    ].join('\n\n'),
  );
});

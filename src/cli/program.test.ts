import type { Command as Parser } from 'commander';
import { expect, it } from 'vitest';
import { commands } from './commands.generated.ts';
import { buildProgram } from './program.ts';

const program = async (loaded: string | undefined): Promise<Parser> => {
  const entry = commands.find(({ words }) => words.join(' ') === loaded);
  return buildProgram({
    version: '1.0.0',
    isColored: false,
    columns: 80,
    writeOut: () => {},
    writeError: () => {},
    loaded: entry && { entry, command: await entry.load() },
    found: () => {},
  });
};

/** Whether the command takes a global option. */
const isGlobal = (from: Parser, words: string): boolean => {
  const steps = words === '' ? [] : words.split(' ');
  const found = steps.reduce(
    (parser, word) => parser.commands.find((one) => one.name() === word)!,
    from,
  );
  return found.options.some(({ long }) => long === '--token');
};

it.each<[string | undefined, Record<string, boolean>]>([
  ['job run', { '': true, job: true, 'job run': true, 'job plan': false, 'agent reload': false }],
  ['agent', { '': true, agent: true, 'agent reload': false }],
  [undefined, { '': true, 'job run': true, 'agent reload': true }],
])(
  'with "%s", global options are compared for the commands that may be meant',
  async (loaded, expected) => {
    const parser = await program(loaded);
    const found = Object.keys(expected).map((words) => [words, isGlobal(parser, words)]);
    expect(Object.fromEntries(found)).toEqual(expected);
  },
);

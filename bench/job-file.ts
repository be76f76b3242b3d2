/** Reading and formatting a job file of 200 lines, without HTTP. */
import { readFileSync } from 'node:fs';
import { realWorld } from '../src/base/ports-real.ts';
import { formatHcl } from '../src/language/format/format.ts';
import { standardFunctions } from '../src/language/hcl/functions/standard.ts';
import { parseHcl } from '../src/language/hcl/parse.ts';
import { readJob } from '../src/language/jobspec/job-file.ts';
import type { Benchmark } from './benchmark.ts';
import { warmMs } from './thread-time.ts';

const lines = 200;

/** The group of the first example, with expressions, under many names. */
function longFile(): string {
  const example = readFileSync(new URL('../examples/variables.hcl', import.meta.url), 'utf8');
  const group = example.slice(example.indexOf('  dynamic "group"'), example.lastIndexOf('}'));
  let text = example.slice(0, example.lastIndexOf('}'));
  for (let at = 1; text.split('\n').length < lines; at++) {
    text += group.replace('site-$', `site-${at}-$`);
  }
  return `${text}}\n`;
}

export const jobFile: Benchmark = {
  name: 'job-file',
  title: 'Job files',
  baseline: 'none',
  takesGiven: false,
  run: async ({ runs, progress }) => {
    const text = longFile();
    const { clock, ids } = realWorld;
    const functions = standardFunctions({ clock, ids });
    const work = {
      parse: () => parseHcl(text),
      read: () => readJob(text, { functions }),
      format: () => formatHcl(text),
    };
    const times = { parse: [] as number[], read: [] as number[], format: [] as number[] };
    for (let run = 1; run <= runs; run++) {
      progress(`run ${run} of ${runs}`);
      times.parse.push(warmMs(work.parse));
      times.read.push(warmMs(work.read));
      times.format.push(warmMs(work.format));
    }
    const target = { of: 'median', is: 'at most', value: 5 } as const;
    return {
      figures: [
        { name: 'syntax of the file', unit: 'ms', ours: times.parse },
        { name: 'the job of the file, evaluated', unit: 'ms', ours: times.read, target },
        { name: 'the canonical form of the file', unit: 'ms', ours: times.format },
      ],
      notes: [
        `A file of ${text.split('\n').length - 1} lines (${text.length} characters) with variables, locals, functions and dynamic blocks: warm medians of the thread’s processor time.`,
      ],
    };
  },
};

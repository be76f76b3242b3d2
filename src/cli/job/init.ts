import type { LocalCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { exampleJob } from './example-job.ts';

export const jobInit: LocalCommand = {
  words: ['job', 'init'],
  summary: 'Write an example of a job file.',
  definition: {
    arguments: [
      {
        name: 'FILE',
        kind: 'file',
        isRequired: false,
        description: 'The file to write; example.hcl by default.',
      },
    ],
    options: [{ name: 'short', description: 'Without the explanations.' }],
    details: `An existing file is never overwritten.

Example:
  roster job init && roster job run example.hcl`,
  },
  async runLocally({ stdout, writeFile }, [file = 'example.hcl'], options) {
    const text = options.flag('short') ? withoutComments(exampleJob) : exampleJob;
    try {
      await writeFile(file, text, 'new');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === 'EEXIST' ? 'it exists already' : message;
      throw new CliError(`"${file}" cannot be written: ${reason}.`);
    }
    await stdout.write(`${file} is written. Run it with "roster job run ${file}".\n`);
    return exitCodes.ok;
  },
};

const withoutComments = (text: string): string =>
  text
    .replace(/^ *#.*\n/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/\{\n\n/g, '{\n')
    .trimStart();

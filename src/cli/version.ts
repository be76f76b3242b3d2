import type { LocalCommand } from './definition.ts';

export const version: LocalCommand = {
  words: ['version'],
  summary: 'Print the version of this program.',
  definition: {},
  async runLocally({ stdout, version: Version }, _words, options) {
    const text = options.flag('json') ? JSON.stringify({ Version }, null, 2) : `roster ${Version}`;
    await stdout.write(`${text}\n`);
    return 0;
  },
};

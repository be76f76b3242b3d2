import { answerPrinter } from './answer.ts';
import type { LocalCommand } from './definition.ts';
import type { ProgramBuild } from './environment.ts';

export const version: LocalCommand = {
  words: ['version'],
  summary: 'Print the version of this program.',
  definition: {},
  async runLocally(environment, _words, options) {
    const { isJson, json } = await answerPrinter(environment, options);
    const { stdout, build } = environment;
    await (isJson ? json(described(build)) : stdout.write(`roster ${build.version}\n`));
    return 0;
  },
};

const described = ({ version, commit, commitDate, node, platform }: ProgramBuild) => ({
  Version: version,
  Commit: commit ?? '',
  CommitDate: commitDate ?? '',
  Node: node,
  Platform: platform,
});

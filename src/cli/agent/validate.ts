import { answerPrinter } from '../answer.ts';
import type { LocalCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { plural } from '../render/text.ts';
import { type ConfigurationFault, readConfiguration } from './configuration.ts';
import { settingFaults } from './settings.ts';
import { readJobs } from './source.ts';

const details = `The files are read as "roster agent --config" reads them: in the order given, directories in the order of
their names, later files over earlier ones. Flags and variables are not looked at, so they may still name the
data directory. Certificates and other files that settings name are not read, but job files of "run" are.

Exit codes: 0 without faults, 1 with faults, all of which are printed, each with its place.

Examples:
  roster agent validate /etc/roster
  roster agent validate -json base.hcl site.json`;

export const agentValidate: LocalCommand = {
  words: ['agent', 'validate'],
  summary: 'Check configuration files of an agent.',
  definition: {
    arguments: [
      {
        name: 'PATH',
        kind: 'file',
        isRequired: true,
        isSeveral: true,
        description: 'Files and directories.',
      },
    ],
    details,
  },
  async runLocally(environment, paths, options) {
    const { stdout, stderr } = environment;
    const { isJson, json } = await answerPrinter(environment, options);
    const { settings, faults: inFiles, nameOf } = await readConfiguration(environment, paths);
    const told = new Set(inFiles.map(({ setting }) => setting));
    const faults: ConfigurationFault[] = [
      ...inFiles,
      ...settingFaults(settings, (setting) => nameOf(setting) ?? setting, {
        checked: told,
        isPart: true,
      }).map((message) => ({ message })),
    ];
    await readJobs(environment, settings.run, (message) => faults.push({ message }));
    if (isJson) {
      await json({ Faults: faults.map(shown) });
    } else if (faults.length === 0) {
      await stdout.write('The configuration is valid.\n');
    } else {
      const lines = faults.map(({ message }) => `  - ${message}\n`).join('');
      await stderr.write(`The configuration has ${plural(faults.length, 'fault')}:\n${lines}`);
    }
    return faults.length === 0 ? exitCodes.ok : exitCodes.error;
  },
};

const shown = ({ file, line, column, setting, message }: ConfigurationFault) => ({
  ...(file !== undefined && { File: file }),
  ...(line !== undefined && { Line: line, Column: column }),
  ...(setting !== undefined && { Setting: setting }),
  Message: message,
});

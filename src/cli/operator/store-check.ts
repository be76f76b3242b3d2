import { answerPrinter } from '../answer.ts';
import type { LocalCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { Progress } from './progress.ts';
import { embeddedOptions, readDataDirectory } from './store-options.ts';
import { examinationSentences, lossesDetails, printReport, reportJson } from './store-report.ts';

export const storeCheck: LocalCommand = {
  words: ['operator', 'store', 'check'],
  summary: 'Read the whole store of a data directory, and show every fault.',
  definition: {
    options: embeddedOptions,
    details: `Stop the agent first. Nothing is changed. Reads every page, every batch of the log, every part of the snapshot and
every row, and shows what "roster operator store repair" would lose. Fields that are missing, of a wrong type or out of
bounds are named, too, and never their values. The exit code is 1 if there is a fault.
${lossesDetails}

Example:
  roster operator store check --data-dir /var/lib/roster`,
  },
  async runLocally(environment, _words, options) {
    const answers = await answerPrinter(environment, options);
    const dataDirectory = await readDataDirectory(environment, options);
    const progress = new Progress(environment, examinationSentences);
    const report = await environment.engines
      .checkStore({ dataDirectory }, (step, bytes) => progress.show(step, bytes))
      .finally(() => progress.end());
    const { directory, index, rows, faults, faultyRows } = report;
    const isSound = faults.length + faultyRows.length === 0;
    const { stdout } = environment;
    if (answers.isJson) await answers.json(reportJson(report));
    else if (isSound) {
      await stdout.write(`The store in ${directory} is sound: index ${index}, ${rows} rows.\n`);
    } else await printReport(environment, report);
    return isSound ? exitCodes.ok : exitCodes.error;
  },
};

import { answerPrinter } from '../answer.ts';
import type { LocalCommand } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { exitCodes } from '../errors.ts';
import { plural } from '../render/text.ts';
import type { RepairedStore } from './engines.ts';
import { Progress } from './progress.ts';
import { embeddedOptions, readDataDirectory } from './store-options.ts';
import {
  examinationSentences,
  lossesDetails,
  printReport,
  repairOptions,
  reportJson,
} from './store-report.ts';

export const storeRepair: LocalCommand = {
  words: ['operator', 'store', 'repair'],
  summary: 'Replace a damaged store by one with all that is legible.',
  definition: {
    options: [...embeddedOptions, ...repairOptions],
    details: `Stop the agent first. Writes all that is legible to a new store, which takes the place of the damaged one. That
one stays beside it under another name, with a list of what is lost. Where rows are lost, nothing is changed without -yes.
Rows with a faulty field stay as they are.
The state then goes on as after a restore: above every index that was given out, and nodes keep for half an hour what it
does not know, see "roster operator snapshot restored". The exit code is 1 if the store was left damaged.
${lossesDetails}

Example:
  roster operator store repair --data-dir /var/lib/roster -yes`,
  },
  async runLocally(environment, _words, options) {
    const answers = await answerPrinter(environment, options);
    const dataDirectory = await readDataDirectory(environment, options);
    const progress = new Progress(environment, examinationSentences);
    const isWithoutRootKey = options.flag('withoutRootKey');
    const given = { dataDirectory, mayLose: options.flag('yes'), isWithoutRootKey };
    const repaired = await environment.engines
      .repairStore(given, (step, bytes) => progress.show(step, bytes))
      .finally(() => progress.end());
    if (answers.isJson) {
      await answers.json({
        ...reportJson(repaired),
        Repaired: repaired.repaired !== undefined,
        NewIndex: repaired.repaired?.index ?? null,
        Damaged: repaired.repaired?.damaged ?? null,
      });
    } else await print(environment, repaired);
    return isLeft(repaired) ? exitCodes.error : exitCodes.ok;
  },
};

/** Whether there was something to do, and nothing was changed. */
const isUntouched = ({ faults, lostRows, repaired }: RepairedStore): boolean =>
  faults.length + lostRows.length > 0 && repaired === undefined;

const isLeft = (repaired: RepairedStore): boolean =>
  isUntouched(repaired) || repaired.faultyRows.length > 0;

async function print(environment: CliEnvironment, repaired: RepairedStore): Promise<void> {
  const { stdout } = environment;
  const { directory, index, rows, repaired: result } = repaired;
  if (result === undefined && !isLeft(repaired)) {
    await stdout.write(`The store in ${directory} is sound: index ${index}, ${rows} rows.\n`);
    return;
  }
  await printReport(environment, repaired);
  const kept = repaired.faultyRows.length;
  if (kept > 0) {
    await stdout.write(
      `\nNothing is lost of ${plural(kept, 'row')} with a faulty field: a repair keeps such a row as it is.\n` +
        'Write such a record again through the API, or delete it.\n',
    );
  }
  if (result === undefined) {
    if (!isUntouched(repaired)) return;
    await stdout.write('\nNothing was changed. To repair it and lose this, add -yes.\n');
    return;
  }
  const isAll = repaired.lostRows.length + repaired.lostPieces.length === 0;
  const outcome = isAll ? 'nothing is lost' : `it goes on at index ${result.index}`;
  await stdout.write(
    `\nRepaired the store in ${directory}: ${rows} rows of index ${index}, ${outcome}.\n` +
      `The damaged store is in ${result.damaged}${isAll ? '' : ', the list of what is lost beside it'}.\n`,
  );
}

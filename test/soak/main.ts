/**
 * `npm run soak [-- --minutes N] [--driver NAME] [--seed N]`: uses an agent hard, and looks for
 * leaks.
 */
import { parseArgs } from 'node:util';
import { type SoakOptions, soak } from './soak.ts';
import { growthMost, type Sample, warmMinutes } from './verdict.ts';

const usage =
  'usage: npm run soak -- [--minutes N, default 60] [--driver raw_exec|exec] [--seed N]';
const minutesMost = 7 * 24 * 60;
const drivers = ['raw_exec', 'exec'];

function readCommand(): Pick<SoakOptions, 'minutes' | 'driver' | 'seed'> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      driver: { type: 'string', default: 'raw_exec' },
      seed: { type: 'string', default: '1' },
    },
  });
  const { driver } = values;
  const minutes = Number(values.minutes);
  const seed = Number(values.seed);
  if (!(minutes > warmMinutes && minutes <= minutesMost)) {
    throw new Error(`--minutes must be a number above ${warmMinutes}, and ${minutesMost} at most`);
  }
  if (!drivers.includes(driver)) throw new Error(`--driver must be ${drivers.join(' or ')}`);
  if (!Number.isInteger(seed) || seed < 0) throw new Error('--seed must be a whole number');
  return { minutes, driver, seed };
}

const row = (cells: readonly (string | number)[]): string =>
  cells.map((cell) => String(cell).padStart(12)).join('');

const head = [
  'minute',
  'updates',
  'busy %',
  'agent MB',
  'supervisor',
  'descriptors',
  'processes',
  'mounts',
  'directories',
];

function line(sample: Sample): string {
  const {
    minute,
    updates,
    busyPercent,
    rssMb,
    supervisorRssMb,
    descriptors,
    processes,
    mounts,
    directories,
  } = sample;
  const memory = [rssMb.toFixed(0), supervisorRssMb.toFixed(0)];
  const busy = busyPercent.toFixed(1);
  return row([
    minute.toFixed(1),
    updates,
    busy,
    ...memory,
    descriptors,
    processes,
    mounts,
    directories,
  ]);
}

let command: ReturnType<typeof readCommand> | undefined;
try {
  command = readCommand();
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exitCode = 2;
}
if (command !== undefined) {
  console.log(`At rest, with nothing left to run, during ${command.minutes} minutes of churn:`);
  console.log(row(head));
  const report = await soak({ ...command, progress: (sample) => console.log(line(sample)) });
  for (const fault of report.faults) console.log(`FAULT ${fault}`);
  if (report.faults.length === 0) {
    const most = `${growthMost * 100} % above minute ${warmMinutes}`;
    console.log(`passed: memory at rest is within ${most}, and nothing else is left`);
  }
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}

/** `npm run chaos [-- --minutes M] [--seed N] …`: faults on three servers over etcd, under load. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type ChaosOptions, type ChaosReport, chaos } from './chaos.ts';
import { clockLibrary } from './cluster.ts';
import { faultKinds } from './faults.ts';
import { chaosMistakes } from './mistakes.ts';

const usage =
  'usage: npm run chaos -- [--minutes M, default 2] [--seed N] [--only KIND,KIND] [--mistake NAME] [--keep FOLDER]';
const minutesMost = 24 * 60;

function readCommand(): Omit<ChaosOptions, 'progress'> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string' },
      only: { type: 'string' },
      mistake: { type: 'string' },
      keep: { type: 'string' },
    },
  });
  const minutes = Number(values.minutes);
  const seed = Number(values.seed ?? randomInt(2 ** 32));
  const mistake = chaosMistakes.find(({ name }) => name === values.mistake);
  const kinds = values.only?.split(',') ?? mistake?.kinds ?? Object.keys(faultKinds);
  if (!(minutes > 0 && minutes <= minutesMost)) {
    throw new Error(`--minutes must be a number up to ${minutesMost}`);
  }
  if (!Number.isInteger(seed) || seed < 0) throw new Error('--seed must be a whole number');
  const wrong = kinds.find((kind) => faultKinds[kind] === undefined);
  if (wrong !== undefined) {
    throw new Error(`"${wrong}" is no kind of fault: ${Object.keys(faultKinds).join(', ')}`);
  }
  if (values.mistake !== undefined && mistake === undefined) {
    const names = chaosMistakes.map(({ name }) => `  ${name}`);
    throw new Error(`--mistake must be one of\n${names.join('\n')}`);
  }
  const { keep } = values;
  return { minutes, seed, kinds, keep, mistake, ...(mistake && { violationsMost: 1 }) };
}

function table(report: ChaosReport, seed: number, tookMs: number): string {
  const rows: (readonly [string, string | number])[] = [
    ['seed', seed],
    ...Object.entries(report.faults).map(([name, count]) => [`fault: ${name}`, count] as const),
    ...Object.entries(report.requests).map(([name, count]) => [`requests ${name}`, count] as const),
    ['writes in histories', report.written],
    ['longest time without a write', `${(report.longestGapMs / 1000).toFixed(1)} s`],
    ['took', `${(tookMs / 1000).toFixed(0)} s`],
    ['violations', report.violations.length],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

let command: ReturnType<typeof readCommand> | undefined;
try {
  command = readCommand();
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exitCode = 2;
}
if (command !== undefined) {
  console.error(`seed ${command.seed}`);
  if (clockLibrary === undefined) {
    console.error('clocks are left alone: install libfaketime to change those of the servers');
  }
  const startMs = performance.now();
  const report = await chaos({ ...command, progress: (text) => console.error(text) });
  console.log(table(report, command.seed, performance.now() - startMs));
  for (const violation of report.violations) console.log(`VIOLATION ${violation}`);
  process.exit(report.violations.length === 0 ? 0 : 1);
}

/**
 * `npm run crash [-- COUNT] [--seed N] [--power-cuts]`: kills agents under load and looks for lost writes.
 * With power cuts each kill also takes, in whole or in part, the writes that the disk had not synced.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { spreadOf } from '../../bench/statistics.ts';
import { type CrashOptions, type CrashReport, crashTest } from './crash.ts';

const usage = 'usage: npm run crash -- [COUNT, default 200] [--seed N] [--power-cuts]';
const killsMost = 10_000;

function readCommand(): Omit<CrashOptions, 'progress'> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string' }, 'power-cuts': { type: 'boolean' } },
  });
  const kills = Number(positionals[0] ?? 200);
  const seed = Number(values.seed ?? randomInt(2 ** 32));
  if (positionals.length > 1 || !Number.isInteger(kills) || kills < 1 || kills > killsMost) {
    throw new Error(`COUNT must be one number from 1 to ${killsMost}`);
  }
  if (!Number.isInteger(seed) || seed < 0) throw new Error('--seed must be a whole number');
  return { kills, seed, power: values['power-cuts'] === true ? 'cut' : undefined };
}

function table(report: CrashReport, seed: number, tookMs: number): string {
  const starts = spreadOf(report.startsMs);
  const rows = [
    ['seed', seed],
    ['kills under load', report.kills],
    ['kills while starting', report.killsWhileStarting],
    ['acknowledged writes', report.acknowledged],
    ['unanswered writes that are there whole', report.kept],
    ['unanswered writes that are not there', report.dropped],
    ['tasks that outlived the agents', report.runningTasks],
    ['sectors that power cuts took', report.lostSectors],
    ['power cuts that tore writes', report.tornCuts],
    ['start, median', `${starts.median.toFixed(0)} ms`],
    ['start, slowest', `${starts.max.toFixed(0)} ms`],
    ['took', `${(tookMs / 1000).toFixed(0)} s`],
    ['faults', report.faults.length],
  ];
  const width = Math.max(...rows.map(([name]) => String(name).length));
  return rows.map(([name, value]) => `${String(name).padEnd(width)}  ${value}`).join('\n');
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
  const startMs = performance.now();
  const report = await crashTest({ ...command, progress: (text) => console.error(text) });
  console.log(table(report, command.seed, performance.now() - startMs));
  for (const fault of report.faults) console.log(`FAULT ${fault}`);
  // Open connections would keep the process alive for a while.
  process.exit(report.faults.length === 0 ? 0 : 1);
}

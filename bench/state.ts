import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from './agent.ts';
import { alternate, type Benchmark } from './benchmark.ts';
import { limits } from './limits.ts';
import type { StateMeasured, StateRun } from './state-worker.ts';

const program = fileURLToPath(new URL('./state-worker.ts', import.meta.url));
/** Transactions that wait at a time, and rows of a commit of the baseline: both make commits of 512 KB. */
const inFlight = 8192;
const perCommit = 512;

export const state: Benchmark = {
  name: 'state',
  title: 'Durable state transactions of one 1-KB row each, no HTTP',
  baseline: `bare \`node:sqlite\`, the same rows as JSON, ${perCommit} to a commit`,
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const folder = temporaryFolder();
    try {
      const once = (kind: StateRun['kind']) => measure(folder.path, kind);
      const results = await alternate(
        setting,
        () => once('ours'),
        () => once('baseline'),
      );
      return {
        figures: [
          {
            name: 'transactions',
            unit: '/s',
            ...results,
            target: { of: 'median', is: 'at least', value: 60_000 },
          },
        ],
        notes: [
          `Each run writes ${limits.transactions} rows to a new data directory in a new process, ` +
            `${inFlight} transactions waiting at a time; they commit in groups, each with \`fsync\` ` +
            '(`synchronous=FULL`). Code that is not yet compiled counts, and so does the snapshot ' +
            'that the growing log calls for.',
        ],
      };
    } finally {
      await folder.remove();
    }
  },
};

/** Transactions per second. */
async function measure(folder: string, kind: StateRun['kind']): Promise<number> {
  const { transactions } = limits;
  const directory = mkdtempSync(join(folder, `${kind}-`));
  const run: StateRun = { kind, directory, transactions, inFlight, perCommit };
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    program,
    JSON.stringify(run),
  ]);
  const { elapsedMs } = JSON.parse(stdout) as StateMeasured;
  return (transactions / elapsedMs) * 1000;
}

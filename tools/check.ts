/**
 * Every lint, then every test; the last line counts both. Started by `npm test`. With `--all` it leaves
 * nothing out: neither the tests that are too many for every run, nor those that lack something.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lintSteps } from './lint.ts';
import { isStopped, runStep } from './steps.ts';
import { addCounts, type Counts, countTests, sayNotRun } from './test-count.ts';

const words = process.argv.slice(2);
const isAll = words.includes('--all');
const filters = words.filter((word) => word !== '--all');
const nothingSkipped = isAll || process.env.CI === 'true';
let total: Counts = { passed: 0, failed: 0, notRun: [] };

for (const step of lintSteps) {
  const { passed } = await runStep(step);
  total = addCounts(total, { passed: passed ? 1 : 0, failed: passed ? 0 : 1, notRun: [] });
  exitIfStopped();
}
const draw = isAll ? 'all' : drawOfCommit();
process.env.TESTS_DRAW = draw;
process.env.TESTS_WITHOUT = nothingSkipped ? 'nothing' : 'what-is-missing';
if (!isAll) console.log(`of tests that are too many, the tenth of ${draw}: all with --all\n`);
total = addCounts(total, await runTests());
exitIfStopped();

for (const line of sayNotRun(total.notRun)) console.log(line);
const failed = total.failed + (nothingSkipped ? total.notRun.length : 0);
console.log(`${total.passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** The seed of the drawn tenth of the tests: the commit, which always draws the same. */
function drawOfCommit(): string {
  try {
    const words = ['rev-parse', '--short=12', 'HEAD'];
    return execFileSync('git', words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'no commit';
  }
}

async function runTests(): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-test-'));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { exitCode } = await runStep({
    title: 'tests (vitest)',
    command: ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...filters],
  });
  const counts = countTests(existsSync(report) ? readFileSync(report, 'utf8') : '', exitCode);
  rmSync(folder, { recursive: true });
  return counts;
}

function exitIfStopped(): void {
  if (!isStopped()) return;
  console.log('stopped before the end');
  process.exit(130);
}

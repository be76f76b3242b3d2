/** Every lint, then every test; the last line counts both. Started by `npm test`. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lintSteps } from './lint.ts';
import { isStopped, runStep } from './steps.ts';
import { addCounts, type Counts, countTests } from './test-count.ts';

let total: Counts = { passed: 0, failed: 0 };

for (const step of lintSteps) {
  const { passed } = await runStep(step);
  total = addCounts(total, passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
  exitIfStopped();
}
total = addCounts(total, await runTests(process.argv.slice(2)));
exitIfStopped();

console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function runTests(filters: readonly string[]): Promise<Counts> {
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

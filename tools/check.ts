/**
 * Every lint, then every test, then the tests of the API once more, in the bundle and at a follower of three servers; the
 * last line counts all. Started by `npm test`. With `--all` it leaves nothing out: neither the tests that are too many for
 * every run, nor those that lack something.
 *
 * The checkout is bundled before its tests, so that agents and commands which tests start do so from this bundle, in a third
 * of the processor time. A bundle of other files is never run (`fresh-bundle.cjs`).
 *
 * Failures are run again, alone. A test that then passes three times is told as unsteady, which is a defect of the test or
 * of the product, and does not fail the run; with `--all` it does.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acceptanceFiles } from './acceptance.ts';
import { freshBundle } from './fresh-bundle.cjs';
import { lintSteps } from './lint.ts';
import { isStopped, runStep, type Step } from './steps.ts';
import { addCounts, type Counts, countTests, failuresIn, sayNotRun } from './test-count.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);
const isAll = words.includes('--all');
const filters = words.filter((word) => word !== '--all');
const nothingSkipped = isAll || process.env.CI === 'true';
/** More failures than this are no accident. */
const rerunFilesMax = 6;
const rerunRounds = 3;
const inOneServer: Kind = { title: 'tests (vitest)', environment: {} };
const atFollower: Kind = {
  title: 'tests of the API in the bundle, at a follower of three servers (vitest)',
  environment: { ROSTER_TEST_FOLLOWER: '1', ROSTER_TEST_BUNDLE: '1' },
};
let total: Counts = { passed: 0, failed: 0, notRun: [] };

const isWhole = filters.length === 0;
const bundling: Step = {
  title: 'bundle, from which tests start agents and commands',
  command: ['tools/checkout-bundle.ts'],
};

for (const step of isWhole ? [...lintSteps, bundling] : lintSteps) {
  const { passed } = await runStep(step);
  total = addCounts(total, { passed: passed ? 1 : 0, failed: passed ? 0 : 1, notRun: [] });
  exitIfStopped();
}
const draw = isAll ? 'all' : drawOfCommit();
process.env.TESTS_DRAW = draw;
process.env.TESTS_WITHOUT = nothingSkipped ? 'nothing' : 'what-is-missing';
if (!isAll) console.log(`of tests that are too many, the tenth of ${draw}: all with --all\n`);
total = addCounts(total, await runTests(filters));
exitIfStopped();
if (isWhole) {
  if (freshBundle(root) === undefined) {
    console.log('a bundled file has been written since, so tests started programs from source\n');
  }
  total = addCounts(total, await runTests(acceptanceFiles(root, draw), atFollower));
  exitIfStopped();
}

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

interface Run {
  readonly counts: Counts;
  readonly report: string;
}

/** How vitest is run. */
interface Kind {
  readonly title: string;
  readonly environment: Readonly<Record<string, string>>;
}

async function runTests(words: readonly string[], kind = inOneServer): Promise<Counts> {
  const { counts, report } = await runVitest(words, kind);
  if (isAll || counts.failed === 0 || report === '') return counts;
  const failures = failuresIn(report);
  const isAccident = failures.size > 0 && failures.size <= rerunFilesMax;
  if (!isAccident || !(await passAlone(failures, kind))) {
    return counts;
  }
  const names = [...failures].flatMap(([path, tests]) =>
    tests.length === 0 ? [path] : tests.map((name) => `${path}: ${name}`),
  );
  for (const name of names) console.log(`unsteady, and so a defect: ${name}`);
  return { ...counts, passed: counts.passed + counts.failed, failed: 0 };
}

async function passAlone(failures: ReadonlyMap<string, unknown>, kind: Kind): Promise<boolean> {
  for (let round = 1; round <= rerunRounds; round++) {
    const { counts } = await runVitest([...failures.keys(), '--no-file-parallelism'], kind);
    exitIfStopped();
    if (counts.failed > 0) return false;
  }
  return true;
}

async function runVitest(args: readonly string[], { title, environment }: Kind): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-test-'));
  const path = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`];
  const { exitCode } = await runStep({
    title,
    environment,
    command: ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args],
  });
  const report = existsSync(path) ? readFileSync(path, 'utf8') : '';
  rmSync(folder, { recursive: true });
  return { counts: countTests(report, exitCode), report };
}

function exitIfStopped(): void {
  if (!isStopped()) return;
  console.log('stopped before the end');
  process.exit(130);
}

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Need, needing } from '../../src/base/not-run.test-helper.ts';
import { eventually } from '../../src/node/eventually.test-helper.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));

const mounting: Need = {
  isMet: process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0,
  otherwise: 'they mount, and this user may not',
};
/** A duration that no other process sleeps, which identifies the planted processes. */
const seconds = 1_000_000 + process.pid;

/** The bodies of the tests in each planted file. */
const files: Readonly<Record<string, string>> = {
  'nothing.test.js': '',
  'orphan.test.js': `spawnSync('sh', ['-c', 'setsid sleep ${seconds} >/dev/null 2>&1 &'])`,
  'child.test.js': `spawn('sleep', ['${seconds}'], { env: {}, detached: true }).unref()`,
  'quick.test.js': `spawn('sleep', ['0.2']).unref()`,
  'mount.test.js': `
    const at = join(tmpdir(), 'mounted');
    mkdirSync(at);
    spawnSync('mount', ['-t', 'tmpfs', 'none', at]);`,
};

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

let reports: ReadonlyMap<string, FileReport>;

beforeAll(async () => {
  const root = mkdtempSync(join(tmpdir(), 'planted-'));
  const head = `
    import { spawn, spawnSync } from 'node:child_process';
    import { mkdirSync } from 'node:fs';
    import { tmpdir } from 'node:os';
    import { join } from 'node:path';\n`;
  for (const [name, body] of Object.entries(files)) {
    writeFileSync(join(root, name), `${head}test('plants', async () => { ${body}\n });\n`);
  }
  const setupFiles = JSON.stringify([join(checkout, 'test/support/no-leftovers.ts')]);
  const fields = `include: ['*.test.js'], globals: true, pool: 'forks', setupFiles: ${setupFiles}`;
  writeFileSync(join(root, 'vitest.config.mjs'), `export default { test: { ${fields} } };\n`);
  const report = join(root, 'report.json');
  const words = ['run', '--root', root, '--reporter=json', `--outputFile=${report}`];
  await new Promise((resolve) => {
    const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
    const env = { ...process.env, LEFTOVERS_PATIENCE_MS: '4000' };
    spawn(process.execPath, [vitest, ...words], { env, stdio: 'ignore' }).on('exit', resolve);
  });
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as { testResults: FileReport[] };
  reports = new Map(
    testResults.map((file) => [file.name.slice(dirname(file.name).length + 1), file]),
  );
}, 120_000);

test.each([
  ['nothing.test.js', 'one that starts nothing'],
  ['quick.test.js', 'one whose programs are just ending'],
])('%s passes: %s', (name) => {
  expect(reports.get(name)).toMatchObject({ status: 'passed', message: '' });
});

const process_ = new RegExp(`process \\d+: sleep ${seconds}`);

describe('a test file fails with the names of its leftovers', () => {
  test.each([
    ['orphan.test.js', process_],
    ['child.test.js', process_],
  ])('%s', (name, line) => {
    expect(reports.get(name)).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(line),
    });
  });

  test('mount.test.js', needing(mounting), () => {
    const message = expect.stringMatching(/mount \S+\/mounted/);
    expect(reports.get('mount.test.js')).toMatchObject({ status: 'failed', message });
  });
});

test('leftovers are ended all the same', async () => {
  // The kernel ends a killed process when that process runs next.
  await eventually(() => {
    const lines = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.split('\n');
    expect(lines.filter((line) => line.startsWith(`sleep ${seconds}`))).toEqual([]);
  });
});

/** The parts of `npm test` itself. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acceptanceFiles } from './acceptance.ts';
import { bundledSource, modulesOfTests } from './bundled-source.test-helper.ts';
import { missingPrograms, remedy } from './programs.mjs';
import { countTests, failuresIn, sayNotRun } from './test-count.ts';
import { makeTree } from './tree.test-helper.ts';

const report = (passed: number, failed: number, files: [string, string[]][]) =>
  JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    testResults: files.map(([status, tests]) => ({
      status,
      assertionResults: tests.map((test) => ({ status: test })),
    })),
  });

describe('the count of tests', () => {
  test.each<[what: string, report: string, exitCode: number, passed: number, failed: number]>([
    ['all pass', report(2, 0, [['passed', ['passed', 'passed']]]), 0, 2, 0],
    ['one fails', report(1, 1, [['failed', ['passed', 'failed']]]), 1, 1, 1],
    [
      'a file does not load',
      report(1, 0, [
        ['passed', ['passed']],
        ['failed', []],
      ]),
      1,
      1,
      1,
    ],
    ['a hook fails beside tests that pass', report(1, 0, [['failed', ['passed']]]), 1, 1, 1],
    ['an error that no test caught', report(1, 0, [['passed', ['passed']]]), 1, 1, 1],
    ['no test is found', report(0, 0, []), 1, 0, 1],
    ['no report', '', 1, 0, 1],
    ['no report and no exit code', '', 0, 0, 1],
  ])('%s', (_, text, exitCode, passed, failed) => {
    expect(countTests(text, exitCode)).toEqual({ passed, failed, notRun: [] });
  });

  test('the failures of a report are told by their files', () => {
    const testResults = [
      { name: 'a', status: 'passed', assertionResults: [{ status: 'passed', fullName: 'x' }] },
      {
        name: 'b',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'y' },
          { status: 'failed', fullName: 'z' },
        ],
      },
      { name: 'c', status: 'failed', assertionResults: [] },
    ];
    const text = JSON.stringify({ numPassedTests: 2, numFailedTests: 1, testResults });
    expect([...failuresIn(text)]).toEqual([
      ['b', ['z']],
      ['c', []],
    ]);
  });

  test('tests that are passed over are told with their reasons', () => {
    const skipped = { status: 'skipped', meta: { notRun: 'podman is away' } };
    const assertionResults = [skipped, { status: 'passed' }, { status: 'pending' }, skipped];
    const testResults = [{ status: 'passed', assertionResults }];
    const text = JSON.stringify({ numPassedTests: 1, numFailedTests: 0, testResults });
    const { passed, failed, notRun } = countTests(text, 0);
    expect([passed, failed]).toEqual([1, 0]);
    expect(sayNotRun(notRun)).toEqual([
      '2 not run, because podman is away',
      '1 not run, because this machine lacks what they need',
    ]);
  });
});

describe('the programs that tests need', () => {
  const wanted = [
    { name: 'here', package: 'a', why: 'first' },
    { name: 'gone', package: 'b', why: 'second' },
    { name: 'away', package: 'b', why: 'third' },
    { name: 'served', package: 'c', why: 'fourth', hasService: true as const },
  ];
  const [, ...missing] = wanted;

  test('are looked for on the whole PATH', () => {
    const root = makeTree({ 'one/other': '', 'two/gone': '' });
    expect(missingPrograms(wanted, `${root}/one:${root}/two`)).toEqual(wanted);
    expect(missingPrograms(wanted, `${root}:/bin`)).toEqual(wanted);
    expect(missingPrograms([{ name: 'sh', package: 'dash', why: '' }], `${root}:/bin`)).toEqual([]);
  });

  test.each<[isRoot: boolean, hasApt: boolean, outcome: object]>([
    [true, true, { install: ['b'], withoutServices: ['c'] }],
    [false, true, { refuse: expect.stringContaining('sudo apt-get install b c') }],
    [true, false, { refuse: expect.stringContaining('gone: second\n  away: third') }],
  ])('root %s, apt %s', (isRoot, hasApt, outcome) => {
    const machine = { who: 'The tests', isRoot, hasApt };
    expect(remedy([], machine)).toBeUndefined();
    expect(remedy(missing, machine)).toEqual(outcome);
  });
});

describe('the tests of the API at a follower', () => {
  const root = join(import.meta.dirname, '..');
  const all = acceptanceFiles(root, 'all');

  test('are those that start an API', () => {
    expect(all).toContain('test/api/jobs.test.ts');
    expect(all.every((file) => file.startsWith('test/api/'))).toBe(true);
    expect(all.length).toBeGreaterThan(80);
  });

  test('are a tenth in each run, which the draw decides', () => {
    const [one, other] = ['a', 'b'].map((draw) => acceptanceFiles(root, draw));
    expect(one).toHaveLength(Math.ceil(all.length / 10));
    expect(all).toEqual(expect.arrayContaining([...one!, ...other!]));
    expect(one).not.toEqual(other);
  });
});

describe('the tests of the API in the bundle', () => {
  test('find all modules of the program that they and their helpers import', () => {
    const modules = modulesOfTests(join(import.meta.dirname, '..'));
    expect(modules).toEqual(
      expect.arrayContaining(['src/api/api.ts', 'src/server/server.ts', 'src/state/state.ts']),
    );
    expect(modules.filter((path) => /test/.test(path))).toEqual([]);
  });

  test('get each module once, and from the bundle alone', async () => {
    const count = 'export let count = 0;\nexport const add = () => ++count;\n';
    const root = makeTree({
      'src/main.ts': "import './base/count.ts';",
      'src/agent-reader.ts': '',
      'src/agent-decider.ts': '',
      'src/base/count.ts': count,
      'src/base/twice.ts':
        "import { add } from './count.ts';\nexport const twice = (): number => add() + add();\n",
      'src/base/count.test-helper.ts': "export * from './count.ts';",
      'test/api/a.test.ts': "import { twice } from '../../src/base/twice.ts';",
      'package.json': '{"type":"module"}',
    });
    const { resolveId } = bundledSource(root);
    const of = async (source: string, importer: string) =>
      (await resolveId(source, join(root, importer)))?.id;
    const twice = await of('../../src/base/twice.ts', 'test/api/a.test.ts');
    const counted = await of('./count.ts', 'src/base/count.test-helper.ts');
    expect([twice, counted].map((path) => path?.startsWith(join(root, 'node_modules')))).toEqual([
      true,
      true,
    ]);
    expect((await import(twice!)).twice()).toBe(3);
    expect((await import(counted!)).count).toBe(2);
    expect(await of('./count.test-helper.ts', 'src/base/other.test-helper.ts')).toBeUndefined();
    await expect(of('./gone.ts', 'src/base/count.test-helper.ts')).rejects.toThrow(
      'src/base/gone.ts is not in the bundle of the tests',
    );
  });
});

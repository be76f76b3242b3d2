import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const server = {
  'POST /v1/search/fuzzy': {
    json: {
      Matches: {
        jobs: [{ ID: 'web\u001b[31m', Scope: ['default', 'web'] }],
        nodes: [],
      },
      Truncations: { jobs: true, nodes: false },
    },
  },
  'POST /v1/search': { json: { Matches: { jobs: ['web'] }, Truncations: {} } },
};

test('names are shown with their place, and it is said where there are more', async () => {
  const ran = await run(['search', 'web'], { server });
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toMatch(/Context +Name +Where\njobs +web \[31m +default \/ web\n/);
  expect(ran.stdout).toContain('There are more: jobs.');
  expect(ran.stdout).not.toContain('\u001b');
  expect(ran.seen[0]!.query.namespace).toBe('*');
  expect(ran.seen[0]!.body).toEqual({ Text: 'web', Context: 'all' });
});

test('a beginning is searched in the given namespace', async () => {
  const ran = await run(['search', '--prefix', 'w', '--context=jobs', '-namespace=shop'], {
    server,
  });
  expect(ran.stdout).toMatch(/jobs +web +-/);
  expect(ran.seen[0]!.query.namespace).toBe('shop');
  expect(ran.seen[0]!.body).toEqual({ Prefix: 'w', Context: 'jobs' });
});

test('groups and tasks cannot be searched by a beginning', async () => {
  const ran = await run(['search', '--prefix', 'w', '--context=tasks'], { server });
  expect([ran.exitCode, ran.seen.length]).toEqual([1, 0]);
  expect(ran.stderr).toContain('--prefix does not search among tasks.');
});

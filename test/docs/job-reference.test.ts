/** The reference of jobs is what the schemas say, and says something of every field. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { jobReference, page } from '../../tools/job-reference.ts';
import { tableOf } from './tables.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const markdown = readFileSync(join(checkout, page), 'utf8');
const headings = ['Field', 'Type', 'Default', 'Limits', 'Meaning'];

/** The rows of one record. */
const section = (title: string) => {
  const from = markdown.indexOf(`\n## ${title}\n`);
  return tableOf(markdown.slice(from), headings);
};
const row = (title: string, field: string) =>
  section(title).find((one) => one.Field!.startsWith(`\`${field}\``));

test('the page is current: write it anew with npm run docs', () => {
  expect(markdown).toBe(jobReference());
});

describe('a row of the tables', () => {
  test.each([
    ['Job', 'Priority', '`50`', '1 to 100'],
    ['Job', 'Datacenters', '`["*"]`', 'no empty names'],
    ['TaskGroup', 'Count', '`Scaling.Min`, else `1`', expect.stringContaining('at least 0')],
    [
      'RestartPolicy',
      'Attempts',
      'service, system: `2`<br>batch, sysbatch: `3`',
      expect.anything(),
    ],
    ['RestartPolicy', 'Interval', expect.stringContaining('batch, sysbatch: `24h`'), 'at least 5s'],
    [
      'ReschedulePolicy',
      'DelayFunction',
      expect.stringContaining('`exponential`'),
      expect.anything(),
    ],
    ['Resources', 'MemoryMB', '`300`', 'at least 10'],
    ['Task', 'KillTimeout', '`5s`', expect.stringContaining('ProgressDeadline')],
    ['Check', 'InitialStatus', 'empty', 'one of `passing`, `warning`, `critical`'],
  ])('%s.%s', (title, field, absent, bounds) => {
    expect(row(title, field)).toMatchObject({ Default: absent, Limits: bounds });
  });

  test('every link leads somewhere', () => {
    const titles = [...markdown.matchAll(/^## (.*)$/gm)].map(([, title]) => title!.toLowerCase());
    for (const [, link] of markdown.matchAll(/\]\(#([^)]+)\)/g)) expect(titles).toContain(link);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { drawn } from '../../test/support/draw.ts';
import { mistakes } from './list.ts';

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

/** The last seed of the search. */
const seedsMax = 500;

test.each(mistakes)('$name: can be planted', async ({ places }) => {
  for (const { file, right } of places) {
    expect((await readFile(path(file), 'utf8')).split(right), right).toHaveLength(2);
  }
});

test('no two mistakes have the same name', () => {
  expect(new Set(mistakes.map(({ name }) => name)).size).toBe(mistakes.length);
});

describe('its checker finds the mistake', () => {
  test.each(drawn(mistakes))('$name', { timeout: 900_000 }, async ({ name, guarantee, life }) => {
    const { seed, nodes, hours, clusters = 1, servers = 1, log = 'memory' } = life;
    const out = await sim(
      '--mistake',
      name,
      '--seed',
      `${seed}`,
      '--many',
      `${seedsMax - seed + 1}`,
      '--nodes',
      `${nodes}`,
      '--hours',
      `${hours}`,
      '--clusters',
      `${clusters}`,
      '--servers',
      `${servers}`,
      '--log',
      log,
      ...(life.restores ? ['--restores'] : []),
      ...(life.recoveries ? ['--recoveries'] : []),
      ...(life.deciders ? ['--deciders'] : []),
    );
    expect(out).toContain(`: ${guarantee}: `);
  });
});

const sim = (...words: string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, [path('sim/main.ts'), ...words], (_error, said, complaint) =>
      resolve(`${said}${complaint}`),
    );
  });

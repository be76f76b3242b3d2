import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { mistakes } from './list.ts';

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

test.each(mistakes)('$name: can be planted', async ({ places }) => {
  for (const { file, right } of places) {
    expect((await readFile(path(file), 'utf8')).split(right), right).toHaveLength(2);
  }
});

test('a mistake that is planted is found', { timeout: 400_000 }, async () => {
  const { name, guarantee } = mistakes[0]!;
  const words = ['--mistake', name, '--many', '30', '--nodes', '10', '--hours', '0.5'];
  const out = await new Promise<string>((resolve) => {
    execFile(process.execPath, [path('sim/main.ts'), ...words], (_error, said, complaint) =>
      resolve(`${said}${complaint}`),
    );
  });
  expect(out).toContain(`: ${guarantee}: `);
});

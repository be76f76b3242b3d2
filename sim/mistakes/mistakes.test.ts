import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { mistakes } from './list.ts';

const program = fileURLToPath(new URL('../main.ts', import.meta.url));

test.each(mistakes)('$name: is found', { timeout: 240_000 }, async (mistake) => {
  const { name, guarantee, seed } = mistake;
  const words = ['--mistake', name, '--seed', String(seed), '--nodes', '10', '--hours', '0.5'];
  const out = await new Promise<string>((resolve) => {
    execFile(process.execPath, [program, ...words], (_error, said, complaint) =>
      resolve(`${said}${complaint}`),
    );
  });
  expect(out).toContain(`: ${guarantee}: `);
});

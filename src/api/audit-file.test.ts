import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { limits } from '../model/limits.ts';
import { silentLog } from '../server/context.ts';
import { AuditFile } from './audit-file.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roster-audit-'));
});
afterEach(() => rm(directory, { recursive: true }));

test("lines are appended, and only the file's user may read them", async () => {
  const path = join(directory, 'audit.log');
  for (const line of ['one\n', 'two\n']) {
    const file = new AuditFile(path, silentLog);
    file.write(line);
    await file.close();
  }
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a file that cannot be written, and too many lines, are logged as errors', async () => {
  const told: string[] = [];
  const log = { ...silentLog, error: (_: object, sentence: string) => told.push(sentence) };
  const lost = new AuditFile(join(directory, 'missing', 'audit.log'), log);
  lost.write('one\n');
  await lost.close();
  expect(told).toContain('the audit log cannot be written');
  const file = new AuditFile(join(directory, 'audit.log'), log);
  file.write('x'.repeat(limits.audit.queuedBytesMax + 1));
  await file.close();
  expect(told).toContain('lines of the audit log were lost');
});

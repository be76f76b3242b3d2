/** Obstacles in the directory of logs, where tasks could write under older agents. */
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { root as asRoot, needing } from '../../base/not-run.test-helper.ts';
import { LogFiles } from './log-files.ts';
import { LogWriter } from './log-writer.ts';

const secret = 'a secret of the machine';
let root: string;
let logs: string;
let outside: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'roster-obstacle-'));
  logs = join(root, 'logs');
  outside = join(root, 'outside');
  mkdirSync(logs);
  writeFileSync(outside, secret);
});
afterEach(() => rmSync(root, { recursive: true }));

const place = (index: number) => join(logs, `web.stdout.${index}`);

/** Each puts an obstacle in the place of a log file. */
const obstacles: Readonly<Record<string, (path: string) => unknown>> = {
  'a link to a file': (path) => symlinkSync(outside, path),
  'a link to nothing': (path) => symlinkSync(join(root, 'absent'), path),
  'a second name of a file': (path) => linkSync(outside, path),
  'a named pipe': (path) => execFileSync('mkfifo', [path]),
  'a socket': async (path) => {
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    // Renamed, as the server would remove its socket.
    renameSync(path, `${path}.kept`);
    await new Promise((resolve) => server.close(resolve));
    renameSync(`${path}.kept`, path);
  },
  'a device': (path) => execFileSync('mknod', [path, 'c', '1', '5']),
};

async function write(text: string, maxFileBytes = 1000): Promise<void> {
  const source = new PassThrough();
  const settings = { directory: logs, name: 'web', maxFiles: 3, maxFileBytes, disabled: false };
  const writer = new LogWriter(source, settings, 'stdout');
  source.end(text);
  await writer.drained;
}

for (const [name, put] of Object.entries(obstacles)) describeObstacle(name, put);

function describeObstacle(name: string, put: (path: string) => unknown): void {
  const needs = name === 'a device' ? [asRoot] : [];
  describe(`where ${name} is`, needing(...needs), () => {
    test('a writer makes a new file, and nothing outside changes', async () => {
      await put(place(0));
      await write('output\n');
      expect(readFileSync(place(0), 'utf8')).toBe('output\n');
      expect(lstatSync(place(0)).isFile()).toBe(true);
      expect(readFileSync(outside, 'utf8')).toBe(secret);
    });

    test('a writer that rotates does the same', async () => {
      writeFileSync(place(0), 'x'.repeat(90));
      const source = new PassThrough();
      const settings = { directory: logs, name: 'web', maxFiles: 3, maxFileBytes: 100 };
      const writer = new LogWriter(source, { ...settings, disabled: false }, 'stdout');
      await put(place(1));
      source.end('y'.repeat(50));
      await writer.drained;
      expect(readFileSync(place(1), 'utf8')).toMatch(/^y+$/);
      expect(readFileSync(outside, 'utf8')).toBe(secret);
    });

    test('a reader finds nothing, and does not wait', async () => {
      await put(place(0));
      const files = new LogFiles(logs, 'web', 'stdout');
      expect(await files.openToRead(0)).toBeUndefined();
    });
  });
}

test('a directory in the way loses the output, and blocks nothing', async () => {
  mkdirSync(place(0));
  await write('output\n');
  expect(await new LogFiles(logs, 'web', 'stdout').openToRead(0)).toBeUndefined();
});

test('a link in the place of the directory of logs is not followed', async () => {
  const elsewhere = join(root, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'web.stdout.0'), secret);
  rmSync(logs, { recursive: true });
  symlinkSync(elsewhere, logs);
  await write('output\n');
  const files = new LogFiles(logs, 'web', 'stdout');
  expect([await files.indexes(), await files.sizeOf(0)]).toEqual([[], 0]);
  expect(await files.openToRead(0)).toBeUndefined();
  expect(readFileSync(join(elsewhere, 'web.stdout.0'), 'utf8')).toBe(secret);
});

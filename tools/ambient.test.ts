import { describe, expect, test } from 'vitest';
import { checkAmbient } from './ambient.ts';
import { instead, type Kind } from './ambient-places.ts';
import { makeTree } from './tree.test-helper.ts';

const check = (text: string, file = 'src/model/a.ts') => checkAmbient(makeTree({ [file]: text }));

describe('the lint of "no ambient world"', () => {
  test.each<[code: string, what: string, kind: Kind]>([
    ['Date.now();', 'Date.now', 'clock'],
    ['new Date();', 'new Date()', 'clock'],
    ['Date();', 'Date()', 'clock'],
    ["Date['now']();", 'Date.now', 'clock'],
    ['const { now } = Date;', 'Date.now', 'clock'],
    ['const D = Date;', 'Date', 'clock'],
    ['run(Date);', 'Date', 'clock'],
    ['globalThis.Date.now();', 'Date.now', 'clock'],
    ['performance.now();', 'performance.now', 'clock'],
    ['process.hrtime.bigint();', 'process.hrtime', 'process'],
    ['setTimeout(run, 1);', 'setTimeout', 'timers'],
    ['setInterval(run, 1);', 'setInterval', 'timers'],
    ['setImmediate(run);', 'setImmediate', 'turns'],
    ['globalThis.setTimeout(run, 1);', 'setTimeout', 'timers'],
    ['run({ setTimeout });', 'setTimeout', 'timers'],
    ['AbortSignal.timeout(5);', 'AbortSignal.timeout', 'timers'],
    ['Math.random();', 'Math.random', 'random'],
    ['crypto.randomUUID();', 'crypto.randomUUID', 'random'],
    ['crypto.getRandomValues(bytes);', 'crypto.getRandomValues', 'random'],
    ["import { randomBytes } from 'node:crypto';", 'randomBytes of node:crypto', 'random'],
    ["import { randomUUID as id } from 'crypto';", 'randomUUID of node:crypto', 'random'],
    ["import crypto from 'node:crypto';", 'importing node:crypto as a whole', 'random'],
    ['process.env.HOME;', 'process.env', 'process'],
    ['process.exit(1);', 'process.exit', 'process'],
    ["import { readFile } from 'node:fs/promises';", 'importing node:fs/promises', 'files'],
    ["import { constants, open } from 'node:fs';", 'importing node:fs', 'files'],
    ["import 'fs';", 'importing node:fs', 'files'],
    ["export { readFile } from 'node:fs';", 'importing node:fs', 'files'],
    ["await import('node:fs');", 'importing node:fs', 'files'],
    ["import { connect } from 'node:net';", 'importing node:net', 'network'],
    ["import { createServer } from 'node:http';", 'importing node:http', 'network'],
    ["fetch('http://example.test');", 'fetch', 'network'],
    ["import { spawn } from 'node:child_process';", 'importing node:child_process', 'programs'],
    ["import { Worker } from 'node:worker_threads';", 'importing node:worker_threads', 'threads'],
    [
      "import { setTimeout } from 'node:timers/promises';",
      'importing node:timers/promises',
      'timers',
    ],
    ["import { hostname } from 'node:os';", 'importing node:os', 'machine'],
    ["import { DatabaseSync } from 'node:sqlite';", 'importing node:sqlite', 'database'],
  ])('refuses %s', (code, what, kind) => {
    const faults = check(`// one line before\n${code}\nexport {};\n`);
    expect(faults).toEqual([expect.stringMatching(/^src\/model\/a\.ts:2:\d+ /)]);
    expect(faults[0]?.replace(/^\S+ /, '')).toBe(`${what} is ambient: ${instead[kind]}`);
  });

  test.each<[code: string]>([
    ['new Date(0);'],
    ['Date.UTC(2026, 0, 1);'],
    ["Date.parse('2026-01-01');"],
    ['value instanceof Date;'],
    ['Math.floor(1.5);'],
    ['timers.setTimeout(run);'],
    ['run({ setTimeout: 1 });'],
    ['function start(setTimeout: () => void) { setTimeout(); }'],
    ['function start(process: { env: string }) { return process.env; }'],
    ['let handle: ReturnType<typeof setTimeout>;'],
    ['queueMicrotask(run);'],
    ['process.nextTick(run);'],
    ["import type { Server } from 'node:http';"],
    ["import { type Server } from 'node:http';"],
    ["import { createHash } from 'node:crypto';"],
    ["import { join } from 'node:path';"],
    ["import { STATUS_CODES } from 'node:http';"],
    ['// Date.now() in a comment'],
    ["run('Date.now() in a text');"],
  ])('accepts %s', (code) => {
    expect(check(`${code}\nexport {};\n`)).toEqual([]);
  });

  test('a local name frees its own scope only', () => {
    const text = `export function one(process: { exit(): void }) { process.exit(); }
export function two() { process.exit(); }
`;
    expect(check(text)).toEqual([
      `src/model/a.ts:2:25 process.exit is ambient: ${instead.process}`,
    ]);
  });

  test.each<[file: string, code: string]>([
    ['src/main.ts', 'Date.now(); Math.random(); process.exit(0);'],
    ['src/base/ports-real.ts', 'Date.now(); Math.random(); setTimeout(run, 1);'],
    ['src/base/ports-simulated.ts', 'setImmediate(run);'],
    ['src/state/engine/sqlite/log.ts', "import 'node:fs'; import 'node:worker_threads';"],
    ['src/node/drivers/raw-exec.ts', "import 'node:child_process'; Date.now();"],
    ['src/node/supervisor/main.ts', "import 'node:net'; setTimeout(run, 1);"],
    ['src/node/logs/reader.ts', "import 'node:fs/promises';"],
    ['src/cli/job/run.ts', "import 'node:fs'; process.env.HOME;"],
    ['src/api/http-server.ts', "import 'node:http';"],
    ['src/sdk/transport-fetch.ts', "fetch('http://example.test');"],
    ['src/model/a.test.ts', 'Date.now();'],
    ['src/model/a.test-helper.ts', 'Date.now();'],
    ['test/a.ts', 'Date.now();'],
    ['bench/a.ts', 'Date.now();'],
  ])('leaves %s free to do its work', (file, code) => {
    expect(check(`${code}\nexport {};\n`, file)).toEqual([]);
  });

  test.each<[file: string, code: string, what: string]>([
    ['src/base/ports-simulated.ts', 'Date.now();', 'Date.now'],
    ['src/base/ports-simulated.ts', 'setTimeout(run, 1);', 'setTimeout'],
    ['src/node/logs/reader.ts', 'setTimeout(run, 1);', 'setTimeout'],
    ['src/cli/job/run.ts', 'Date.now();', 'Date.now'],
    ['src/api/http-server.ts', "import 'node:fs';", 'importing node:fs'],
    ['src/sdk/transport.ts', 'setTimeout(run, 1);', 'setTimeout'],
    ['src/agent.ts', 'Date.now();', 'Date.now'],
    ['src/node/runner.ts', "import 'node:child_process';", 'importing node:child_process'],
    ['sim/network.ts', 'Math.random();', 'Math.random'],
  ])('allows %s no more than it needs', (file, code, what) => {
    expect(check(`${code}\nexport {};\n`, file)).toEqual([
      expect.stringContaining(`${file}:1:1 ${what} is ambient`),
    ]);
  });
});

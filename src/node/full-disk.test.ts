/** A data directory on a full disk: agents and tasks go on, and nothing is half written. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needing } from '../base/not-run.test-helper.ts';
import {
  assignment,
  dataDirectory,
  id,
  running,
  servers,
  startAgent,
} from './agents.test-helper.ts';
import { eventually } from './eventually.test-helper.ts';
import {
  running as artifactRunning,
  failure,
  filesIn,
  serve,
  start,
} from './hooks/artifacts/harness.test-helper.ts';
import { mounting } from './needs.test-helper.ts';

const mayMount = await mounting();
let small: string;

/** The first process of a task; its children come and go. */
const leader = (number: number) => running(number).find(({ pid, session }) => pid === session)?.pid;

describe('on a full disk', needing(mayMount), () => {
  beforeEach(() => {
    small = join(dataDirectory, 'small');
    mkdirSync(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'roster-test', small]);
  });
  afterEach(() => {
    execFileSync('umount', ['-l', small]);
  });

  const filler = () => join(small, 'filler');
  /** Fills the disk to the last byte. */
  function fill(): void {
    const file = openSync(filler(), 'a');
    for (const size of [1 << 16, 1 << 12, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {}
    }
    closeSync(file);
  }

  test('an artifact that does not fit fails with the reason, and leaves the disk as it was', async () => {
    const address = await serve((_request, response) => void response.end(Buffer.alloc(8 << 20)));
    const started = await start([{ GetterSource: `${address}/large` }], { directory: small });
    expect(await failure(started)).toBe(`failed to fetch "${address}/large": the disk is full`);
    await eventually(() => {
      expect(filesIn(small).filter((name) => /artifact|large|\.new$/.test(name))).toEqual([]);
    });
    const again = await start([{ GetterSource: `${address}/large?archive=false` }]);
    await artifactRunning(again);
  });

  test('tasks go on, new ones start when there is room again, and the next agent finds all', async () => {
    const notices: string[] = [];
    const onNotice = (sentence: string) => void notices.push(sentence);
    const options = { dataDirectory: small, onNotice };
    const first = await startAgent(options);
    const ticking = assignment('n=0; while :; do n=$((n+1)); echo tick $n; sleep 0.05; done');
    servers.assign([ticking]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    const log = join(small, 'alloc', id(1), 'alloc/logs/app.stdout.0');
    await eventually(() => expect(readFileSync(log, 'utf8')).toContain('tick 2\n'));
    fill();
    const before = leader(1);
    const second = assignment('exec sleep 600', { number: 2 });
    servers.assign([ticking, second]);
    await eventually(() => {
      expect(notices).toContainEqual(expect.stringMatching(/0002 cannot be kept: ENOSPC/));
    });
    // The supervisor could not write its table either, and went on.
    await eventually(() => {
      expect(servers.reports.get(id(2))?.TaskStates.app?.StartedAt ?? null).not.toBeNull();
    });
    expect(leader(1)).toBe(before);
    expect(servers.statusOf(id(1))).toBe('running');
    expect(notices.filter((sentence) => sentence.includes('supervisor'))).toEqual([]);

    rmSync(filler());
    await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
    const length = readFileSync(log, 'utf8').length;
    await eventually(() => expect(readFileSync(log, 'utf8').length).toBeGreaterThan(length));
    // The log tells of the bytes that could not be written, and the others are complete.
    for (const line of readFileSync(log, 'utf8').split('\n').slice(0, -1)) {
      expect(line).toMatch(
        /^(tick \d+|t?i?c?k? ?\d*|\[\d+ bytes of output were lost: they could not be written\]|)$/,
      );
    }
    const kept = join(small, 'allocations');
    await eventually(() => {
      expect(readdirSync(kept).sort()).toEqual([`${id(1)}.json`, `${id(2)}.json`]);
    });
    const pids = [leader(1), leader(2)];
    await first.stop({ stopTasks: false });
    const last = await startAgent(options);
    await eventually(() => expect(last.allocations!.all).toHaveLength(2));
    expect([leader(1), leader(2)]).toEqual(pids);
    expect(last.allocations!.all.map(({ report }) => report.ClientStatus)).toEqual([
      'running',
      'running',
    ]);
    await last.stop({ stopTasks: true });
  });
});

test.each([
  ['cut in the middle', (text: string) => text.slice(0, text.length / 2)],
  ['empty', () => ''],
])('a saved file that is %s is left out with a word; the others go on', async (_name, damage) => {
  const first = await startAgent();
  servers.assign([assignment('exec sleep 600'), assignment('exec sleep 600', { number: 2 })]);
  await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
  await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
  const { pid, startTime } = running(2)[0]!;
  await first.stop({ stopTasks: false });
  const path = join(dataDirectory, 'allocations', `${id(1)}.json`);
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  const notices: string[] = [];
  await startAgent({ onNotice: (sentence) => void notices.push(sentence) });
  expect(notices).toContainEqual(expect.stringContaining(`${id(1)} is damaged`));
  expect(running(2)).toMatchObject([{ pid, startTime }]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWithTerminal } from './exec-terminal.ts';
import { isEnded, listPids, readStat } from './proc.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'exec-terminal-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

const start = (script: string) =>
  startWithTerminal({
    program: '/bin/sh',
    args: ['-c', script],
    env: {},
    directory,
    owner: undefined,
  });

/** This process's children, ended ones too: it has not yet asked for their end. */
const children = (): number[] => listPids().filter((pid) => readStat(pid)?.parent === process.pid);

const hasEnded = (pid: number): boolean => isEnded(readStat(pid));

/** Does nothing else meanwhile, as a supervisor that is busy. */
function waitBusily(until: () => boolean): void {
  const deadlineMs = performance.now() + 20_000;
  while (!until()) if (performance.now() > deadlineMs) throw new Error('waited in vain');
}

test('a command’s exit code is read although its terminal ended first for the supervisor', async () => {
  const others = new Set(children());
  const holders = () => children().filter((pid) => !others.has(pid));
  const slow = await start('until [ -e go ]; do sleep 0.01; done; exit 6');
  const quick = start('exit 5');
  waitBusily(() => holders().some(hasEnded));
  // The end of the quick command is known, and is asked for after all that it has said. So the slow command ends
  // between the two, when this turn of the loop reads nothing more.
  await quick;
  writeFileSync(join(directory, 'go'), '');
  waitBusily(() => holders().every(hasEnded));
  expect(await slow.ended).toBe(6);
  expect(await (await quick).ended).toBe(5);
});

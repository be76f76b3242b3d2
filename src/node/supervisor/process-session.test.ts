import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.test-helper.ts';
import type { ExecPlan } from './exec-command.ts';
import { startWithPipes } from './exec-pipes.ts';
import { startWithTerminal } from './exec-terminal.ts';
import { FifoPool } from './fifo-pool.ts';
import { listPids, readStat } from './proc.ts';
import { ProcessSession } from './process-session.ts';

const plan: ExecPlan = {
  program: '/bin/sh',
  args: ['-c', 'echo said; exit 3'],
  env: {},
  directory: '/',
  owner: undefined,
};

const terminalsOfThisProcess = (): readonly number[] =>
  listPids().filter(
    (pid) =>
      readStat(pid)?.parent === process.pid &&
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('terminal-main'),
  );

async function said(session: ProcessSession): Promise<string> {
  let text = '';
  for await (const { stream, data } of session.output) {
    text += `${stream}: ${Buffer.from(data).toString()}`;
  }
  return text;
}

test.each(['pipes', 'terminal'])(
  'the end of a command with %s is known even if it came before anybody listened',
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), 'roster-session-'));
    try {
      const command =
        kind === 'pipes'
          ? await startWithPipes(plan, new FifoPool(directory))
          : await startWithTerminal(plan);
      const names = { allocId: 'a', taskName: 't', execId: 'e' };
      const session = new ProcessSession(command, async () => {}, names);
      await session.gone;
      await eventually(() => expect(terminalsOfThisProcess()).toEqual([]));
      expect(await said(session)).toBe(kind === 'pipes' ? 'stdout: said\n' : 'stdout: said\r\n');
      expect(await session.exited).toEqual({ exitCode: 3 });
      session.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

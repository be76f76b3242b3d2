/** An agent whose server cannot start, while its node has begun. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createAgent } from '../src/main.ts';

const directory = mkdtempSync(join(tmpdir(), 'roster-failed-start-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const options = { dataDirectory: directory, http: { host: '127.0.0.1', port: 0 }, node: {} };

/** Processes that have the directory in their command line. */
const named = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(directory);
    } catch {
      return false;
    }
  });

/** The program with which a supervisor makes pipes may live a moment longer. */
const gone = () => expect.poll(named).toEqual([]);

test('tells the fault of the server, leaves no supervisor running, and starts once it can', async () => {
  mkdirSync(join(directory, 'server'));
  const state = join(directory, 'server/state.db');
  writeFileSync(state, 'this is no database, and long enough to be looked at as one '.repeat(20));
  await expect(createAgent(options)).rejects.toThrow(/state\.db|server/);
  await gone();
  rmSync(join(directory, 'server'), { recursive: true });
  const agent = await createAgent(options);
  expect(named()).not.toEqual([]);
  await expect(createAgent(options)).rejects.toThrow(/in use|another/);
  // The other agent's supervisor is still there.
  expect(named()).not.toEqual([]);
  await agent.close('stop');
  await gone();
});

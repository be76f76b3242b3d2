import { expect, test } from 'vitest';
import { indexed, problem } from '../sdk/server.test-helper.ts';
import { run, type Setting } from './harness.test-helper.ts';

const health = '/v1/agent/health';
const noLeader = problem(503, 'no-leader', 'There is no leader at the moment.');
const note = 'No server leads at the moment. The command waits for a leader.\n';

/** A server that answers after this time, and not before the note, or before its health was asked for. */
const slow = (afterMs: number, told = noLeader): Setting => {
  const heard = Promise.withResolvers<void>();
  return {
    onNote: () => heard.resolve(),
    passesMs: ({ path }) => (path === health ? 0 : afterMs),
    server: async ({ path }) => {
      if (path === health) {
        if (told !== noLeader) heard.resolve();
        return told;
      }
      if (afterMs >= 2000) await heard.promise;
      return indexed(3, []);
    },
  };
};

test.each([[true], [false]])(
  'a command that waits for a leader says so after two seconds (terminal: %s)',
  async (isTerminal) => {
    const { exitCode, stdout, stderr } = await run(['namespace', 'list', '-json'], {
      ...slow(2000),
      isTerminal,
    });
    expect([exitCode, JSON.parse(stdout), stderr]).toEqual([0, [], note]);
  },
);

test('a command that is answered in time asks for no reason', async () => {
  const { stderr, seen } = await run(['namespace', 'list'], slow(1999));
  expect([stderr, seen.map(({ path }) => path)]).toEqual(['', ['/v1/namespaces']]);
});

test('a command that waits for something else says nothing', async () => {
  const { exitCode, stderr, seen } = await run(['namespace', 'list'], slow(2000, indexed(1, {})));
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(seen.map(({ path }) => path)).toEqual(['/v1/namespaces', health]);
});

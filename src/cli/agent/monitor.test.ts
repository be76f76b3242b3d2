import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const frame = (text: string) => ({ Data: Buffer.from(text).toString('base64') });
const follows = (...frames: object[]) => ({
  'GET /v1/agent/monitor': { text: frames.map((one) => `${JSON.stringify(one)}\n`).join('') },
});

test('lines are printed as they come, until the reader leaves', async () => {
  const server = follows({}, frame('one\n'), {}, frame('two\nthree\n'), frame('never\n'));
  const ran = await run(['monitor'], {
    server,
    onOutput: (text, interrupt) => {
      if (text.includes('three')) interrupt();
    },
  });
  expect([ran.exitCode, ran.stderr]).toEqual([130, '']);
  expect(ran.stdout).toMatch(/^one\ntwo\nthree\n/);
});

test.each<[string[], Record<string, string>]>([
  [[], {}],
  [['-log-level', 'debug', '-json'], { log_level: 'debug', log_json: 'true' }],
  [['-server-id', 'leader'], { server_id: 'leader' }],
  [
    ['-node-id', 'd0d0d0d0-0000-4000-8000-000000000000'],
    { node_id: 'd0d0d0d0-0000-4000-8000-000000000000' },
  ],
])('monitor %j asks with %j', async (words, query) => {
  const { seen } = await run(['monitor', ...words], { server: follows({}) });
  expect(seen.map((one) => one.query)).toEqual([query]);
});

test('the reason of the end is an error', async () => {
  const end = { Error: { Code: 'token-not-found', Message: 'The token is unknown.' } };
  const ran = await run(['monitor'], { server: follows({}, frame('one\n'), end) });
  expect(ran).toMatchObject({
    exitCode: 1,
    stdout: 'one\n',
    stderr: 'Error: The token is unknown.\nCheck ROSTER_TOKEN or --token.\n',
  });
});

test('a lost connection is an error', async () => {
  const ran = await run(['monitor'], { server: follows(frame('one\n')) });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toMatch(/^Error: /);
});

test.each([
  [
    ['-log-level', 'loud'],
    '--log-level must be one of trace, debug, info, warn, error, got "loud".',
  ],
  [
    ['-server-id', 'a', '-node-id', 'b'],
    '--server-id and --node-id exclude each other: name one agent.',
  ],
])('monitor %j is refused', async (words, message) => {
  const { exitCode, stderr, seen } = await run(['monitor', ...words]);
  expect([exitCode, stderr, seen]).toEqual([1, `Error: ${message}\n`, []]);
});

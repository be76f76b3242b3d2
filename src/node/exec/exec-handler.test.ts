import { expect, test } from 'vitest';
import { openExec } from '../../model/exec-session/exec-stream.ts';
import { socketPair } from '../../model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../../model/node-stream/stream-connection.ts';
import { mockExec } from '../drivers/mock-exec.ts';
import { execHandler } from './exec-handler.ts';

/** A server and a node in memory; the commands are those of the mock driver. */
function connected({ isDisabled = false } = {}) {
  const [left, right] = socketPair();
  const server = new StreamConnection({ socket: left, side: 'server' });
  const node = new StreamConnection({ socket: right, side: 'node' });
  const target = {
    exec: (wish: Parameters<typeof mockExec>[0]) => mockExec(wish, new Promise(() => {})),
  };
  const allocation = (id: string) => (id === 'a' ? target : undefined);
  node.accept('exec', execHandler({ allocation, isDisabled: () => isDisabled }));
  return (command: readonly string[], tty = false, alloc_id = 'a') =>
    openExec(server.open('exec', { alloc_id, task: 'app', command, tty }));
}

test('a session carries both directions and ends with its exit code', async () => {
  const session = await connected()(['cat']);
  await session.write(Buffer.from('hello'));
  session.closeInput();
  let said = '';
  for await (const { data } of session.output) said += Buffer.from(data).toString();
  expect([said, await session.exited]).toEqual(['hello', { exitCode: 0 }]);
});

test('a terminal gets its size', async () => {
  const session = await connected()(['size'], true);
  session.resize({ height: 5, width: 7 });
  session.closeInput();
  let said = '';
  for await (const { data } of session.output) said += Buffer.from(data).toString();
  expect(said).toBe('5 7\n');
});

test.each([
  ['an operator who wants none', { isDisabled: true }, ['cat'], 'a', 403],
  ['an allocation that is not here', {}, ['cat'], 'b', 404],
  ['an empty command', {}, [], 'a', 400],
  ['a command that is not found', {}, ['nothing'], 'a', 400],
])('%s is refused', async (_name, options, command, id, status) => {
  await expect(connected(options)(command, false, id)).rejects.toMatchObject({ status });
});

test('a session too many in a task is refused, and an ended one makes room', async () => {
  const open = connected();
  const sessions = await Promise.all(Array.from({ length: 16 }, () => open(['wait'])));
  await expect(open(['wait'])).rejects.toMatchObject({ status: 429 });
  sessions[0]!.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await open(['exit'])).toBeDefined();
});

import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { holdPort } from './http-server-hold.ts';

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

test('requests during the start of the agent are told to retry', async () => {
  const port = await freePort();
  const release = await holdPort({ host: '127.0.0.1', port });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/jobs`);
  release();
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.json()).toMatchObject({ status: 503, code: 'no-leader' });
});

test('a connection without a request gets no answer, and ends when the agent is there', async () => {
  const port = await freePort();
  const release = await holdPort({ host: '127.0.0.1', port });
  let heard = '';
  const reserve = connect({ port, host: '127.0.0.1' });
  reserve.on('data', (bytes) => {
    heard += String(bytes);
  });
  const closed = new Promise((resolve) => reserve.once('close', resolve));
  // Connections are taken in their order, so it is accepted when a later one is answered.
  expect((await fetch(`http://127.0.0.1:${port}/v1/jobs`)).status).toBe(503);
  release();
  await closed;
  expect(heard).toBe('');
});

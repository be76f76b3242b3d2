import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { holdPort } from './http-server-hold.ts';

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

test('whoever asks while the agent starts is told to come again', async () => {
  const port = await freePort();
  const release = await holdPort({ host: '127.0.0.1', port });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/jobs`);
  release();
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.json()).toMatchObject({ status: 503, code: 'no-leader' });
});

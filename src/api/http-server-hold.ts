import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Takes a port, so that nobody else does while the agent starts, and tells who asks there to come
 * again. Gives what releases it. Rejects with the system's error when it cannot be had.
 */
export async function holdPort(http: {
  readonly host: string;
  readonly port: number;
}): Promise<() => void> {
  const holder = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    const lines = ['HTTP/1.1 503 Service Unavailable', 'retry-after: 1', 'connection: close'];
    socket.end(`${lines.join('\r\n')}\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
  });
  holder.listen(http);
  await once(holder, 'listening');
  return () => {
    holder.close();
  };
}

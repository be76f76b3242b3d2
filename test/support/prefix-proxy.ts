/** A proxy that serves an agent below `/some/prefix`, and nothing else. */
import { createServer, request as send } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface PrefixProxy {
  /** With the prefix. */
  readonly address: string;
  close(): Promise<void>;
}

const prefix = '/some/prefix';

export async function startPrefixProxy(address: string): Promise<PrefixProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const { method, headers, url = '' } = request;
    if (!url.startsWith(prefix)) return void response.writeHead(404).end();
    const to = `${address}${url.slice(prefix.length)}`;
    const onward = send(to, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('upgrade', ({ url = '', rawHeaders }, socket: Socket, head) => {
    const { hostname, port } = new URL(address);
    const onward = connect(Number(port), hostname);
    const lines = [`GET ${url.slice(prefix.length)} HTTP/1.1`];
    for (let at = 0; at < rawHeaders.length; at += 2)
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    onward.write(`${lines.join('\r\n')}\r\n\r\n`);
    onward.write(head);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

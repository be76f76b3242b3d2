/**
 * A server that names tasks as none would, for the nodes that are told so: what stands between it and
 * them changes a name that servers take into one that they refuse, and back in what nodes say of it.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** By the name that it comes from, which is as long and stands nowhere else. */
const lies = { zz: '..', z: '.' } as const;
export type Untold = (typeof lies)[keyof typeof lies];

/** What a server is to be given so that nodes hear this name. */
export const toldAs = (name: Untold): string =>
  Object.entries(lies).find(([, lie]) => lie === name)![0];

export interface LyingServer {
  readonly address: string;
  close(): void;
}

export async function startLyingServer(target: string): Promise<LyingServer> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const listener = createServer((node) => {
    const server = connect(Number(port), hostname);
    keep(node);
    keep(server);
    passOn(server, node, Object.entries(lies));
    passOn(
      node,
      server,
      Object.entries(lies).map(([name, lie]) => [lie, name]),
    );
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const own = (listener.address() as AddressInfo).port;
  return {
    address: `http://127.0.0.1:${own}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}

/** Names in quotes; one that comes in two parts is put together first. */
function passOn(from: Socket, to: Socket, pairs: readonly (readonly [string, string])[]): void {
  const quoted = pairs.map(([name, other]) => [`"${name}"`, `"${other}"`] as const);
  let held = '';
  from.on('data', (bytes: Buffer) => {
    const text = held + bytes.toString('latin1');
    const keeps = Math.max(0, ...quoted.map(([name]) => begunAtEndOf(text, name)));
    held = text.slice(text.length - keeps);
    let passed = text.slice(0, text.length - keeps);
    for (const [name, other] of quoted) passed = passed.replaceAll(name, other);
    to.write(passed, 'latin1');
  });
  from.on('end', () => to.end(held, 'latin1'));
  from.on('close', () => to.destroy());
}

/** How many characters of a name are at the end of the text, and more of it may follow. */
function begunAtEndOf(text: string, name: string): number {
  for (let length = name.length - 1; length > 0; length--) {
    if (text.endsWith(name.slice(0, length))) return length;
  }
  return 0;
}

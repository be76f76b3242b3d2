/**
 * Makes a server send names of tasks that servers refuse. A proxy between it and the nodes replaces
 * a permitted name with a refused one, and back in the nodes' requests.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** By the permitted name, which has the same length and occurs nowhere else. */
const lies = { zz: '..', z: '.' } as const;
export type Untold = (typeof lies)[keyof typeof lies];

/** The permitted name that nodes receive as this name. */
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

/** Replaces names in quotes, also those that arrive in two parts. */
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

/** How many characters at the end of the text may be the beginning of a name. */
function begunAtEndOf(text: string, name: string): number {
  for (let length = name.length - 1; length > 0; length--) {
    if (text.endsWith(name.slice(0, length))) return length;
  }
  return 0;
}

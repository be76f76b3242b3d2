/** A second address of a server. It forwards bytes until it is cut or frozen. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface Relay {
  readonly address: string;
  /** All requests that passed through it, as text. */
  readonly passed: () => string;
  /** Closes all connections and accepts no more. */
  cut(): Promise<void>;
  /** Drops all bytes from now on while connections stay open. */
  freeze(): void;
  /** Restores the relay at the same address. */
  mend(): Promise<void>;
}

/** @param tls its certificate; plain HTTP without */
export async function startRelay(
  target: string,
  tls?: { readonly cert: string; readonly key: string },
): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let passed = '';
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const serve = (client: Socket): void => {
    keep(client);
    if (isFrozen) return;
    const server = connect(Number(port), hostname);
    keep(server);
    const ends = [
      [client, server],
      [server, client],
    ] as const;
    for (const [from, to] of ends) {
      from.on('data', (bytes: Buffer) => {
        if (isFrozen) return;
        if (from === client) passed += bytes.toString('latin1');
        to.write(bytes);
      });
      from.on('close', () => void (isFrozen || to.destroy()));
    }
  };
  const listener = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  listener.on('connection', keep);
  const listen = async (at: number): Promise<number> => {
    listener.listen(at, '127.0.0.1');
    await once(listener, 'listening');
    return (listener.address() as AddressInfo).port;
  };
  const own = await listen(0);
  const cut = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (!listener.listening) return;
    listener.close();
    await once(listener, 'close');
  };
  return {
    address: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${own}`,
    passed: () => passed,
    cut,
    freeze: () => {
      isFrozen = true;
    },
    mend: async () => {
      await cut();
      isFrozen = false;
      passed = '';
      await listen(own);
    },
  };
}

import { connect, type Socket } from 'node:net';
import { StreamConnection } from '../../model/node-stream/stream-connection.ts';
import {
  type ExitEvent,
  type Hello,
  lineReader,
  oldestProtocolVersion,
  protocolVersion,
  type Reply,
  type Request,
  SupervisorRefusal,
} from './protocol.ts';
import { socketMessages } from './socket-messages.ts';

/** The connection was lost: the request may be sent again over the next connection. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** The supervisor's version does not work with this agent. */
export class VersionMismatch extends Error {
  override readonly name = 'VersionMismatch';
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class SupervisorConnection {
  readonly closed: Promise<void>;

  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(socket: Socket, onExit: (event: ExitEvent) => void) {
    this.#socket = socket;
    const receive = (message: Record<string, unknown>): void => {
      if (message.event === 'exit') onExit(message as unknown as ExitEvent);
      else this.#settleRequest(message as unknown as Reply);
    };
    socket.on(
      'data',
      lineReader(receive, () => socket.destroy()),
    );
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        for (const { reject } of this.#pending.values()) {
          reject(new ConnectionLost('the connection to the supervisor was lost'));
        }
        this.#pending.clear();
        resolve();
      });
    });
  }

  request<T>(request: Request): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.#socket.writable) {
        return reject(new ConnectionLost('there is no connection to the supervisor'));
      }
      const id = ++this.#lastId;
      this.#pending.set(id, { resolve: (value) => resolve(value as T), reject });
      this.#socket.write(`${JSON.stringify({ id, ...request })}\n`);
    });
  }

  /** Throws {@link VersionMismatch}. */
  async hello(): Promise<Hello> {
    const hello = await this.request<Hello>({ op: 'hello', version: protocolVersion });
    if (hello.version < oldestProtocolVersion || hello.version > protocolVersion) {
      throw new VersionMismatch(
        `the running supervisor speaks version ${hello.version} of the protocol, ` +
          `this agent ${oldestProtocolVersion} to ${protocolVersion}`,
      );
    }
    return hello;
  }

  /** Disconnects; tasks go on. */
  close(): void {
    this.#socket.destroy();
  }

  #settleRequest(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (pending === undefined) return;
    if ('error' in reply) {
      pending.reject(new SupervisorRefusal(reply.error.code, reply.error.message));
    } else {
      pending.resolve(reply.value);
    }
  }
}

/** A connected socket, or `undefined` when nobody listens. */
export function dial(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', () => resolve(undefined));
  });
}

/**
 * Opens another connection to the same supervisor for streams, so that a flood on a stream delays
 * no request. Rejects with {@link ConnectionLost}, or `SupervisorRefusal` if the supervisor knows
 * no streams.
 */
export async function dialStreams(path: string): Promise<StreamConnection> {
  const socket = await dial(path);
  if (socket === undefined) throw new ConnectionLost('there is no connection to the supervisor');
  const connection = new SupervisorConnection(socket, () => {});
  try {
    await connection.request({ op: 'streams' });
  } catch (error) {
    connection.close();
    throw error;
  }
  socket.removeAllListeners('data');
  return new StreamConnection({ socket: socketMessages(socket), side: 'server' });
}

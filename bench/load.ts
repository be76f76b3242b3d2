import { connect, type Socket } from 'node:net';
import { type Answer, AnswerReader } from './answer-reader.ts';
import { limits } from './limits.ts';
import { authorityOf, type Target } from './target.ts';

/** A request as it goes over the wire. */
export function requestBytes(target: Target, method: string, path: string, body = ''): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${authorityOf(target)}`,
    ...(target.token === '' ? [] : [`x-registry-token: ${target.token}`]),
    ...(body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A keep-alive connection on a raw socket. Requests that are sent before the answers to others are pipelined, and
 * answered in their order. Every answer but a 200 is a failure, so that refusals are never measured by mistake.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #reader = new AnswerReader();
  /** The requests under way, the oldest first. */
  #waiting: Waiting[] = [];
  #failure: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receiveBytes(chunk));
    socket.on('error', (error) => this.#failRequests(error));
    socket.on('close', () => this.#failRequests(new Error('the server closed the connection')));
  }

  static open({ host, port }: Target): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  send(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#waiting.push({ resolve, reject });
      this.#socket.write(request);
    });
  }

  /** Resets the connection, so that thousands of connections leave no ports in TIME_WAIT. */
  close(): void {
    this.#socket.resetAndDestroy();
  }

  #receiveBytes(chunk: Buffer): void {
    try {
      for (const answer of this.#reader.take(chunk)) {
        if (answer.status !== 200)
          throw new Error(`answered with ${answer.status}: ${answer.body}`);
        const next = this.#waiting.shift();
        if (next === undefined) throw new Error('more came than was asked for');
        next.resolve(answer);
      }
    } catch (error) {
      this.#failRequests(error as Error);
    }
  }

  #failRequests(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/**
 * Sends a number of requests to fill a server, each made when its turn comes. It is not for measuring: it takes as
 * much of the machine as a server does.
 */
export async function sendAll(
  target: Target,
  count: number,
  make: (number: number) => Buffer,
): Promise<void> {
  let made = 0;
  const sendInTurn = async () => {
    const connection = await Connection.open(target);
    try {
      while (made < count) await connection.send(make(made++));
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: limits.connections }, sendInTurn));
}

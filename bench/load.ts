import { connect, type Socket } from 'node:net';
import { type Answer, AnswerReader } from './answer-reader.ts';
import { limits } from './limits.ts';
import { percentile } from './statistics.ts';
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

/**
 * A keep-alive connection on a raw socket, with one request at a time. Every answer but a 200 is a failure,
 * so that refusals are never measured by mistake.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #reader = new AnswerReader();
  #settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
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
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  /** Resets the connection, so that thousands of connections leave no ports in TIME_WAIT. */
  close(): void {
    this.#socket.resetAndDestroy();
  }

  #receiveBytes(chunk: Buffer): void {
    try {
      const answer = this.#reader.take(chunk);
      if (answer === undefined) return;
      if (answer.status !== 200) throw new Error(`answered with ${answer.status}: ${answer.body}`);
      const settle = this.#settle;
      this.#settle = undefined;
      settle?.resolve(answer);
    } catch (error) {
      this.#failRequests(error as Error);
    }
  }

  #failRequests(error: Error): void {
    this.#failure ??= error;
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.reject(error);
  }
}

export interface Load {
  readonly answers: number;
  readonly elapsedMs: number;
  readonly perSecond: number;
  /** Times from sending a request to its whole answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Keeps every connection busy until `next` has no more requests: a closed loop, so a slow server
 * is asked less often.
 */
export async function drive(
  target: Target,
  next: () => Buffer | undefined,
  connections: number = limits.connections,
): Promise<Load> {
  const open = await Promise.all(
    Array.from({ length: connections }, () => Connection.open(target)),
  );
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  try {
    await Promise.all(open.map((connection) => keepBusy(connection, next, latenciesMs)));
    const elapsedMs = performance.now() - startMs;
    return {
      answers: latenciesMs.length,
      elapsedMs,
      perSecond: (latenciesMs.length / elapsedMs) * 1000,
      p50Ms: percentile(latenciesMs, 50),
      p99Ms: percentile(latenciesMs, 99),
    };
  } finally {
    for (const connection of open) connection.close();
  }
}

async function keepBusy(
  connection: Connection,
  next: () => Buffer | undefined,
  latenciesMs: number[],
): Promise<void> {
  for (let request = next(); request !== undefined; request = next()) {
    const sentMs = performance.now();
    await connection.send(request);
    latenciesMs.push(performance.now() - sentMs);
  }
}

/** Repeats a request for the given time. */
export function steadily(request: Buffer, durationMs: number): () => Buffer | undefined {
  const endMs = performance.now() + durationMs;
  return () => (performance.now() < endMs ? request : undefined);
}

/** Sends a number of requests, each made when its turn comes. */
export function series(count: number, make: (number: number) => Buffer): () => Buffer | undefined {
  let made = 0;
  return () => (made < count ? make(made++) : undefined);
}

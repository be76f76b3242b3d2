import { delay, type Random, type Timers } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import {
  StreamConnection,
  type StreamHandler,
  type StreamSocket,
} from '../model/node-stream/stream-connection.ts';
import { Backoff } from './backoff.ts';
import { retryAfterMsOf } from './server-api.ts';

export interface StreamLoopOptions {
  readonly timers: Timers;
  readonly random: Random;
  readonly open: (signal: AbortSignal) => Promise<StreamSocket>;
  readonly handlers: ReadonlyMap<string, StreamHandler>;
  readonly onError: (error: unknown) => void;
  /** The first pause before the connection is opened again. */
  readonly reconnectMinMs: () => number;
}

/** Keeps one connection to a server open until `signal` aborts. */
export async function runStream(options: StreamLoopOptions, signal: AbortSignal): Promise<void> {
  const { timers, random, onError, reconnectMinMs: minMs } = options;
  const backoff = new Backoff({ minMs, maxMs: limits.stream.reconnectMaxMs, timers, random });
  while (!signal.aborted) {
    let leastMs = 0;
    try {
      await serve(options, signal, () => backoff.reset());
    } catch (error) {
      if (!signal.aborted) onError(error);
      leastMs = retryAfterMsOf(error);
    }
    if (!signal.aborted) await backoff.wait(signal, leastMs);
  }
}

async function serve(
  options: StreamLoopOptions,
  signal: AbortSignal,
  onAlive: () => void,
): Promise<void> {
  const socket = await options.open(signal);
  const connection = new StreamConnection({
    socket,
    side: 'node',
    onHandlerError: (_kind, error) => options.onError(error),
  });
  for (const [kind, handler] of options.handlers) connection.accept(kind, handler);
  const leave = (): void => connection.close(1001, 'the node is leaving');
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  const over = new AbortController();
  void connection.closed.then(() => over.abort());
  try {
    await keepAlive(options.timers, socket, over.signal, onAlive);
    await connection.closed;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Pings until the connection is over; ends it when no pong came for too long. */
async function keepAlive(
  timers: Timers,
  socket: StreamSocket,
  over: AbortSignal,
  onAlive: () => void,
): Promise<void> {
  const { pingIntervalMs, pongTimeoutMs } = limits.stream;
  let silentMs = 0;
  socket.onPong(() => {
    silentMs = 0;
    onAlive();
  });
  while (!over.aborted) {
    socket.ping();
    await delay(timers, pingIntervalMs, over);
    silentMs += pingIntervalMs;
    if (silentMs > pongTimeoutMs && !over.aborted) socket.terminate();
  }
}

/** The WebSocket of a command in a task, as the client takes it. The token comes in its first message. */
import {
  MessageQueue,
  type PausableWebSocket,
} from '../../../src/model/exec-session/message-queue.ts';
import { ConnectionError } from '../../../src/sdk/errors.ts';
import type { Transport } from '../../../src/sdk/transport.ts';

export interface ExecSocketOptions {
  readonly open: (path: string) => WebSocket;
  readonly token: () => string;
  /** For messages. */
  readonly address: string;
}

export const execSocketOpener =
  ({ open, token, address }: ExecSocketOptions): NonNullable<Transport['openSocket']> =>
  ({ path, signal }) => {
    signal?.throwIfAborted();
    const page = open(`${path}${path.includes('?') ? '&' : '?'}ws_handshake=true`);
    page.binaryType = 'arraybuffer';
    const socket = pausable(page);
    const messages = new MessageQueue(socket);
    const abort = (): void => page.close();
    signal?.addEventListener('abort', abort, { once: true });
    void messages.closed.then(() => signal?.removeEventListener('abort', abort));
    return new Promise((resolve, reject) => {
      page.addEventListener('open', () => {
        page.send(JSON.stringify({ version: 1, auth_token: token() }));
        resolve({ socket, messages });
      });
      page.addEventListener('close', () => {
        const sentence = `${address} did not open the WebSocket.`;
        reject(
          signal?.aborted ? signal.reason : new ConnectionError(address, 'no-web-socket', sentence),
        );
      });
    });
  };

/** A browser reads on when it is told to pause: the queue keeps what comes meanwhile. */
function pausable(page: WebSocket): PausableWebSocket {
  const listeners = {
    message: (run: (data: unknown, isBinary: boolean) => void) =>
      page.addEventListener('message', ({ data }) => run(data, typeof data !== 'string')),
    close: (run: (code: number, reason: Uint8Array) => void) =>
      page.addEventListener('close', ({ code, reason }) =>
        run(code, new TextEncoder().encode(reason)),
      ),
    error: (run: (error: Error) => void) =>
      page.addEventListener('error', () => run(new Error('the WebSocket failed'))),
    // Browsers answer pings by themselves, and tell nobody of it.
    pong: () => {},
  };
  return {
    get readyState() {
      return page.readyState;
    },
    send: (data: string | Uint8Array, done?: (error?: Error) => void) => {
      if (page.readyState === WebSocket.OPEN) page.send(data as string);
      done?.();
    },
    ping: () => {},
    pause: () => {},
    resume: () => {},
    close: (code: number, reason: string) => page.close(code, reason),
    terminate: () => page.close(),
    on: ((event: keyof typeof listeners, run: never) =>
      listeners[event](run)) as PausableWebSocket['on'],
  };
}

import { WebSocket } from 'ws';
import { limits } from '../../model/limits.ts';
import type { DialOptions, PeeringLink, PeeringTransport } from './link.ts';

/** The path at which peers open their streams, on the port of the API. */
export const peeringStreamPath = '/v1/peering/stream';

/** The longest message, on both sides. */
export const longestFrameBytes = limits.peering.frameBytesMax;

/** A close code of RFC 6455. */
const normal = 1000;

/** Not in limits: the bytes for the reason in a close frame of RFC 6455. */
const reasonBytesMax = 123;

/** Makes a link of a WebSocket, on both sides. Call it before any frame can have arrived. */
export function webSocketLink(socket: WebSocket): PeeringLink {
  let lastError: string | undefined;
  let take: ((text: string) => void) | undefined;
  const early: string[] = [];
  socket.on('error', (error) => {
    lastError = error.message;
  });
  socket.on('message', (data) => {
    const text = String(data);
    if (take === undefined) early.push(text);
    else take(text);
  });
  const closed = new Promise<string>((resolve) => {
    socket.on('close', (_code, reason) => {
      resolve(lastError ?? (reason.toString() || 'the connection was lost'));
    });
  });
  return {
    closed,
    send(text) {
      if (socket.readyState !== socket.OPEN) return false;
      socket.send(text);
      return true;
    },
    get waitingBytes() {
      return socket.bufferedAmount;
    },
    onFrame(receive) {
      take = receive;
      for (const text of early.splice(0)) receive(text);
    },
    close(reason) {
      socket.close(normal, cut(reason));
    },
  };
}

/** Cuts the text between two characters. */
function cut(reason: string): Buffer {
  const bytes = Buffer.from(reason);
  let end = Math.min(bytes.length, reasonBytesMax);
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** Dials other clusters over WebSockets, with TLS if the peer gave certificates to trust. */
export const webSocketTransport: PeeringTransport = {
  dial: (address: string, { caPems, timeoutMs, signal }: DialOptions) => {
    const scheme = caPems.length === 0 ? 'ws' : 'wss';
    const socket = new WebSocket(`${scheme}://${address}${peeringStreamPath}`, {
      maxPayload: longestFrameBytes,
      handshakeTimeout: timeoutMs,
      perMessageDeflate: false,
      // A token may name the server's own certificate instead of its issuer's.
      ...(caPems.length > 0 && { ca: [...caPems], allowPartialTrustChain: true }),
    });
    const link = webSocketLink(socket);
    return new Promise((resolve, reject) => {
      const abort = () => socket.terminate();
      signal.addEventListener('abort', abort, { once: true });
      void link.closed.then((reason) => reject(new Error(reason)));
      socket.on('error', (error) => reject(new Error(reasonOf(error))));
      socket.once('close', () => signal.removeEventListener('abort', abort));
      socket.once('unexpected-response', (_request, response) => {
        socket.terminate();
        const { statusCode } = response;
        reject(new Error(`it answered ${statusCode} where the stream of a peering was asked for`));
      });
      socket.once('open', () => {
        signal.removeEventListener('abort', abort);
        resolve(link);
      });
      if (signal.aborted) abort();
    });
  },
};

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is unknown',
  EAI_AGAIN: 'the name cannot be looked up',
  EHOSTUNREACH: 'there is no way to that host',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'it closed the connection',
  EPROTO: 'it does not speak TLS',
};

function reasonOf(error: Error): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error.message.includes('handshake has timed out')) return 'it does not answer';
  if (/^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|ERR_TLS_)/.test(code)) {
    return `its certificate is not trusted by the peering token (${error.message.split(';')[0]}); the setting "peering.ca_file" of that cluster puts its authority into tokens`;
  }
  return words[code] ?? (error.message || code || 'the connection failed');
}

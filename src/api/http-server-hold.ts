import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { type RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { problemAnswer } from './answers.ts';
import { defaultDialect } from './dialect/dialects.ts';
import { type ServerCertificate, tlsOptionsOf } from './server-certificate.ts';

export interface HeldPort {
  readonly host: string;
  readonly port: number;
  /** `undefined`: plain HTTP. */
  readonly certificate?: ServerCertificate | undefined;
}

/**
 * Listens on a port while the agent starts, so that no other process takes it, and answers requests
 * with 503 and the reason. The result releases the port. Rejects with the system's error when the port is
 * not available.
 */
export async function holdPort(
  { host, port, certificate }: HeldPort,
  reason: () => RosterError = () => refusal('no-leader'),
): Promise<() => void> {
  const open = new Set<Socket>();
  const take = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    // An answer before any request would look like a fault to clients that open connections in
    // advance.
    socket.once('data', () => {
      socket.end(textOf(reason()), () => socket.destroy());
    });
  };
  const rejectUnauthorized = certificate?.verifiesClients === true;
  const holder =
    certificate === undefined
      ? createServer(take)
      : createSecureServer({ ...tlsOptionsOf(certificate), rejectUnauthorized }, take);
  holder.maxConnections = limits.http.connectionsMax;
  holder.listen({ host, port, backlog: limits.http.connectionBacklog });
  await once(holder, 'listening');
  return () => {
    holder.close();
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
}

function textOf(reason: RosterError): string {
  const { headers, body } = problemAnswer(reason, defaultDialect, { connection: 'close' });
  const text = String(body);
  const length = Buffer.byteLength(text);
  const lines = [
    'HTTP/1.1 503 Service Unavailable',
    ...Object.entries({ ...headers, 'retry-after': '1', 'content-length': length }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** A server on this machine that publishes signing keys, correctly or not. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answer of a path. A body that is not a string is written as JSON. */
export type KeyReply =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown }
  | ((response: ServerResponse) => void);

export interface KeyServer {
  readonly origin: string;
  readonly jwksUrl: string;
  /** The requested paths in order. */
  readonly asked: string[];
  /** Sets the answer of a path. */
  answer(path: string, reply: KeyReply): void;
  close(): Promise<void>;
}

export const jwksPath = '/keys';
export const discoveryPath = '/.well-known/openid-configuration';

/** Starts with these keys and the metadata of a provider. */
export async function startKeyServer(keys: readonly object[]): Promise<KeyServer> {
  const asked: string[] = [];
  const replies = new Map<string, KeyReply>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const reply = replies.get(path) ?? { status: 404, body: 'nothing here' };
    if (typeof reply === 'function') return reply(response);
    const { status = 200, headers = {}, body } = reply;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  replies.set(jwksPath, { body: { keys } });
  replies.set(discoveryPath, { body: { issuer: origin, jwks_uri: origin + jwksPath } });
  return {
    origin,
    jwksUrl: origin + jwksPath,
    asked,
    answer: (path, reply) => void replies.set(path, reply),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

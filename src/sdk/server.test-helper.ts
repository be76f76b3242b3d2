/** A small HTTP server for tests of the client and the commands. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  /** Not decoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** A JSON value, or the whole answer. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly json?: unknown;
  readonly text?: string;
  /** Takes over the response. */
  readonly write?: (response: ServerResponse) => void;
}

export type Handler = (request: SeenRequest) => Reply | Promise<Reply>;

export interface TestServer extends AsyncDisposable {
  readonly address: string;
  readonly seen: readonly SeenRequest[];
}

/** Serves on a free port of this machine until it is disposed of. */
export async function serve(handler: Handler): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const url = new URL(incoming.url!, 'http://test');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const request: SeenRequest = {
      method: incoming.method!,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    seen.push(request);
    const { status = 200, headers = {}, json, text: plain, write } = await handler(request);
    if (write !== undefined) return write(response);
    response.writeHead(status, headers);
    response.end(json === undefined ? plain : JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An answer with its index. */
export const indexed = (index: number, json: unknown): Reply => ({
  headers: {
    'x-scheduler-index': String(index),
    'x-scheduler-knownleader': 'true',
    'x-scheduler-lastcontact': '3',
  },
  json,
});

/** A refusal in the form that the pipeline sends. */
export const problem = (status: number, code: string, detail: string, errors?: unknown): Reply => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'x-scheduler-index': '7' },
  json: { type: `urn:roster:error:${code}`, title: code, status, detail, code, errors },
});

/**
 * The requests of a node over plain sockets. They are those of the SDK, with as many connections, for a fraction of its
 * processor time: a single machine plays thousands here.
 */
import { connect, type Socket } from 'node:net';
import WebSocket from 'ws';
import { longestMessageBytes, webSocketTransport } from '../src/model/node-stream/web-socket.ts';
import type { ServerApi } from '../src/node/server-api.ts';
import { limits as sdkLimits } from '../src/sdk/limits.ts';
import { type Answer, AnswerReader } from './answer-reader.ts';
import { requestBytes } from './load.ts';
import { authorityOf, type Target } from './target.ts';

export function lightServerApi(target: Target): ServerApi {
  const [polls, others] = [new Lane(target), new Lane(target)];
  const put = async <T>(token: string, path: string, body?: unknown) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const request = requestBytes({ ...target, token }, 'PUT', path, text);
    return JSON.parse((await others.ask(request)).body.toString()) as T;
  };
  const unused = () => {
    throw new Error('a light node does not ask for this');
  };
  return {
    register: (body, token) => put(token, '/v1/node/register', body),
    heartbeat: (id, token) => put(token, `/v1/node/${id}/heartbeat`),
    async assignments(id, { index, waitMs }, token) {
      const wait = index > 0 ? `?index=${index}&wait=${waitMs}ms` : '';
      const path = `/v1/node/${id}/assignments${wait}`;
      const { head, body } = await polls.ask(requestBytes({ ...target, token }, 'GET', path));
      const found = /\r\nx-scheduler-index: *(\d+)/i.exec(head)?.[1];
      return { index: Number(found ?? 0), assignments: JSON.parse(body.toString()) };
    },
    reportStatus: (id, Allocations, token) => put(token, `/v1/node/${id}/status`, { Allocations }),
    reportServices: (id, Allocations, token) =>
      put(token, `/v1/node/${id}/services`, { Allocations }),
    identities: unused,
    traces: unused,
    snapshot: unused,
    async openStream(id, token) {
      // A refused connection is cheap if it comes before the WebSocket.
      const socket = await opened(target);
      return openWebSocket(`ws://${authorityOf(target)}/v1/node/${id}/stream`, token, socket);
    },
  };
}

/** A connection that is opened when it is needed, with one request at a time. */
class Lane {
  readonly #target: Target;
  #socket: Socket | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(target: Target) {
    this.#target = target;
  }

  ask(request: Buffer): Promise<Answer> {
    const asked = this.#last.then(() => this.#askServer(request));
    this.#last = asked.catch(() => {});
    return asked;
  }

  async #askServer(request: Buffer): Promise<Answer> {
    const socket = this.#socket ?? (await this.#open());
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const reader = new AnswerReader();
    const receive = (chunk: Buffer) => {
      const [answer] = reader.take(chunk);
      if (answer !== undefined) resolve(answer);
    };
    const lost = () => reject(new Error('the connection was lost'));
    socket.on('data', receive).once('close', lost);
    // The answer of a parked query may take long.
    socket.setTimeout(0);
    socket.write(request);
    try {
      const answer = await promise;
      if (answer.status === 200) return answer;
      const after = /\r\nretry-after: *(\d+)/i.exec(answer.head)?.[1];
      const told = { status: answer.status, retryAfterSeconds: after && Number(after) };
      throw Object.assign(new Error(`answered with ${answer.status}`), told);
    } finally {
      socket.off('data', receive).off('close', lost);
      socket.setTimeout(sdkLimits.keepAliveTimeoutMs);
    }
  }

  async #open(): Promise<Socket> {
    const socket = await opened(this.#target);
    this.#socket = socket;
    socket.on('timeout', () => socket.destroy());
    socket.once('close', () => {
      this.#socket = undefined;
    });
    return socket;
  }
}

function opened({ host, port }: Target): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    // A connection that the system's queue has no room for is tried again by the system, ever more seldom.
    socket.setTimeout(sdkLimits.connectTimeoutMs, () => socket.destroy(new Error('no answer')));
    socket.once('connect', () => {
      socket.removeAllListeners('timeout').setTimeout(0);
      resolve(socket);
    });
    socket.on('error', reject);
  });
}

function openWebSocket(url: string, token: string, socket: Socket) {
  const webSocket = new WebSocket(url, {
    headers: { 'x-registry-token': token },
    maxPayload: longestMessageBytes,
    perMessageDeflate: false,
    createConnection: () => socket,
  });
  return new Promise<ReturnType<typeof webSocketTransport>>((resolve, reject) => {
    webSocket.once('open', () => resolve(webSocketTransport(webSocket)));
    webSocket.on('error', reject);
    webSocket.once('close', () => reject(new Error('the stream was closed')));
    webSocket.once('unexpected-response', (_request, { statusCode: status, headers }) => {
      const retryAfterSeconds = Number(headers['retry-after']) || undefined;
      reject(Object.assign(new Error(`answered with ${status}`), { status, retryAfterSeconds }));
      webSocket.terminate();
    });
  });
}

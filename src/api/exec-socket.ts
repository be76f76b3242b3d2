import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Timers } from '../base/ports.ts';
import { handshakeQuery } from '../contract/exec.ts';
import { RosterError, refusal } from '../model/errors.ts';
import {
  encodeServerMessage,
  MalformedMessage,
  parseClientMessage,
  parseHandshake,
} from '../model/exec-session/exec-messages.ts';
import type { ExecOutput, ExecSession } from '../model/exec-session/exec-session.ts';
import { MessageQueue } from '../model/exec-session/message-queue.ts';
import { limits } from '../model/limits.ts';
import { StreamFault } from '../model/node-stream/byte-stream.ts';
import { problemAnswer } from './answers.ts';
import type { Request } from './http.ts';
import { pathOf } from './http-request.ts';
import type { Upgrade } from './http-server.ts';
import type { Pipeline } from './pipeline.ts';
import { parseQuery } from './query.ts';
import { hangUp, ownSocket } from './raw-answer.ts';
import { wantsWebSocket, webSockets } from './web-sockets.ts';

export interface ExecSocketsOptions {
  readonly pipeline: Pipeline;
  readonly timers: Timers;
  readonly requestOf: (raw: IncomingMessage) => Request;
  /** Called for bugs, not for refusals. */
  readonly onFailure: (error: unknown) => void;
}

/** Close codes of RFC 6455. */
const done = 1000;
const goingAway = 1001;
const policyViolation = 1008;
const internalError = 1011;
/** Not in limits: the room in a Close frame (RFC 6455). */
const reasonBytesMax = 123;

/**
 * The WebSockets of commands in tasks.
 * Source: docs/guides/actions-and-exec.md#without-the-command-line.
 *
 * Invariants
 *  W1. The upgrade comes first. A later error closes the socket with 1011 for a bug, else 1008, and
 *      its message as the reason.
 *  W2. If the client does not read, one chunk of output is held here and the command pauses.
 *  W3. The end of the socket ends the session, and the end of the session closes the socket.
 *  W4. Permissions are checked repeatedly while the session lasts. A refusal ends the session at once, however long the
 *      client takes to close its side.
 */
export class ExecSockets {
  readonly #options: ExecSocketsOptions;
  readonly #open = new Set<WebSocket>();
  #carried = 0;

  constructor(options: ExecSocketsOptions) {
    this.#options = options;
  }

  get upgrade(): Upgrade {
    const { pipeline, requestOf } = this.#options;
    const refuse = (raw: IncomingMessage, socket: Socket, refused: RosterError): void =>
      hangUp(socket, problemAnswer(refused, pipeline.dialectAt(pathOf(raw.url ?? ''))));
    const accept = webSockets({ messageBytesMax: limits.exec.messageBytesMax, refuse });
    return {
      isAsked: (raw) => wantsWebSocket(raw) && pipeline.isSocket(pathOf(raw.url ?? '')),
      take: (raw, socket, head) => {
        ownSocket(socket);
        const request = requestOf(raw);
        accept(raw, socket, head, (webSocket) => {
          // While nothing is read, the kernel detects a lost peer.
          socket.setKeepAlive(true, limits.stream.pingIntervalMs);
          void this.#serve(webSocket, request);
        });
      },
    };
  }

  /** The number of open sessions. */
  get size(): number {
    return this.#carried;
  }

  close(): void {
    for (const webSocket of this.#open) {
      webSocket.close(goingAway, 'The server stops.');
      webSocket.terminate();
    }
  }

  async #serve(webSocket: WebSocket, request: Request): Promise<void> {
    const queue = new MessageQueue(webSocket);
    webSocket.on('error', () => {});
    webSocket.on('close', () => this.#open.delete(webSocket));
    this.#open.add(webSocket);
    try {
      const secret = await this.#secretOf(request, queue);
      const limit = limits.exec.sessionsPerServerMax;
      if (this.#carried >= limit) throw refusal('too-many-sessions', { limit });
      this.#carried++;
      try {
        const opened = await this.#options.pipeline.openSocket(request, secret);
        if (opened instanceof RosterError) throw opened;
        await this.#carrySession(webSocket, queue, opened);
      } finally {
        this.#carried--;
      }
    } catch (error) {
      closeWith(webSocket, this.#refusalOf(error));
    }
  }

  /** From the request, or with `ws_handshake` from the first message. */
  async #secretOf(request: Request, queue: MessageQueue): Promise<string | undefined> {
    const inRequest = this.#options.pipeline.secretIn(request);
    const { values } = parseQuery(handshakeQuery, request.query);
    if (!values.ws_handshake) return inRequest;
    const late = Promise.withResolvers<undefined>();
    const timer = this.#options.timers.after(limits.exec.handshakeTimeoutMs, () =>
      late.resolve(undefined),
    );
    const first = await Promise.race([queue.next(), late.promise]);
    timer.clear();
    if (first === undefined) {
      throw refusal('malformed-request', { reason: 'The handshake did not come in time.' });
    }
    const { token } = parseHandshake(first);
    if (inRequest !== undefined && inRequest !== token) {
      const reason = 'The token of the handshake is another than that of the request.';
      throw refusal('malformed-request', { reason });
    }
    return token || undefined;
  }

  async #carrySession(
    webSocket: WebSocket,
    queue: MessageQueue,
    { session, isAllowed }: { readonly session: ExecSession; readonly isAllowed: () => boolean },
  ): Promise<void> {
    const stop = (): void => session.close();
    webSocket.once('close', stop);
    if (webSocket.readyState !== webSocket.OPEN) stop();
    // A client may be slow to close its side: the command hears nothing more of it.
    const refuse = (refused: RosterError): void => {
      closeWith(webSocket, refused);
      stop();
    };
    const beat = this.#keepAlive(webSocket, queue, { isAllowed, refuse });
    void takeInput(session, queue).catch((error) => {
      closeWith(webSocket, this.#refusalOf(error));
    });
    try {
      for await (const output of session.output) await send(webSocket, output);
      const { exitCode } = await session.exited;
      webSocket.send(encodeServerMessage({ kind: 'close', stream: 'stdout' }));
      webSocket.send(encodeServerMessage({ kind: 'close', stream: 'stderr' }));
      webSocket.send(encodeServerMessage({ kind: 'exited', exitCode }));
      webSocket.close(done);
    } finally {
      beat.clear();
      session.close();
    }
  }

  /** Ends the session when the client is silent, its permission is revoked, or this server cannot know that. */
  #keepAlive(
    webSocket: WebSocket,
    queue: MessageQueue,
    { isAllowed, refuse }: { isAllowed: () => boolean; refuse: (refused: RosterError) => void },
  ) {
    const { timers } = this.#options;
    const { pingIntervalMs } = limits.stream;
    let silentMs = 0;
    const heard = (): void => {
      silentMs = 0;
    };
    webSocket.on('message', heard);
    webSocket.on('pong', heard);
    let timer = timers.after(pingIntervalMs, beat);
    const { onFailure } = this.#options;
    function beat(): void {
      // While the command does not read its input, messages of the client are not read either.
      silentMs = queue.isPaused ? 0 : silentMs + pingIntervalMs;
      if (silentMs > limits.exec.silentTimeoutMs) {
        webSocket.terminate();
        return;
      }
      try {
        if (!isAllowed()) throw refusal('token-not-found');
      } catch (error) {
        if (!(error instanceof RosterError)) onFailure(error);
        const isCutOff = error instanceof RosterError && error.code === 'no-leader';
        const reason = 'The token may not do this any more.';
        refuse(isCutOff ? error : refusal('malformed-request', { reason }));
        return;
      }
      webSocket.ping();
      timer = timers.after(pingIntervalMs, beat);
    }
    return { clear: () => timer.clear() };
  }

  #refusalOf(error: unknown): RosterError {
    if (error instanceof RosterError) return error;
    if (error instanceof MalformedMessage || error instanceof StreamFault) {
      return refusal('malformed-request', { reason: error.message });
    }
    this.#options.onFailure(error);
    return refusal('internal-error', { request: 'session' });
  }
}

/** Passes messages of the client to the command, which sets the pace. */
async function takeInput(session: ExecSession, queue: MessageQueue): Promise<void> {
  for await (const text of queue) {
    const { data, closesInput, size } = parseClientMessage(text);
    if (data !== undefined) await session.write(data);
    if (closesInput) session.closeInput();
    if (size !== undefined) session.resize(size);
  }
}

async function send(webSocket: WebSocket, { stream, data }: ExecOutput): Promise<void> {
  const { messageDataBytesMax } = limits.exec;
  for (let at = 0; at < data.length; at += messageDataBytesMax) {
    const piece = data.subarray(at, at + messageDataBytesMax);
    const text = encodeServerMessage({ kind: 'data', stream, data: piece });
    if (at + messageDataBytesMax < data.length) webSocket.send(text);
    else await new Promise<void>((resolve) => webSocket.send(text, () => resolve()));
  }
}

function closeWith(webSocket: WebSocket, { status, detail }: RosterError): void {
  const isLong = Buffer.byteLength(detail) > reasonBytesMax;
  // The missing permission is more useful than the accessor, which is in the audit log.
  const reason = Buffer.from(isLong ? detail.replace(/ with AccessorID "[^"]*"/, '') : detail);
  // The cut is between two characters.
  let end = Math.min(reason.length, reasonBytesMax);
  while (end < reason.length && (reason[end]! & 0xc0) === 0x80) end--;
  webSocket.close(status === 500 ? internalError : policyViolation, reason.subarray(0, end));
}

import type { WebSocket } from 'ws';
import type { Clock, Ids, Secrets, Timers } from '../../base/ports.ts';
import { type Problem, problemOf, RosterError, refusal } from '../../model/errors.ts';
import { MessageQueue } from '../../model/exec-session/message-queue.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/permission/caller.ts';
import {
  type ClientMessage,
  MalformedUiMessage,
  parseUiMessage,
  type ServerMessage,
  uiStreamPath,
  uiStreamVersion,
} from '../../model/ui-stream/messages.ts';
import type { State } from '../../state/types.ts';
import type { Request } from '../http.ts';
import type { Observation, Pipeline } from '../pipeline.ts';
import { placedQuery, requestFor } from './requests.ts';
import type { SharedWatches } from './shared-watches.ts';
import { UiRequests } from './ui-requests.ts';
import { UiWatches } from './ui-watches.ts';

export interface UiConnectionOptions {
  readonly pipeline: Pipeline;
  readonly state: Pick<State, 'read'>;
  readonly world: {
    readonly clock: Clock;
    readonly timers: Timers;
    readonly ids: Ids;
    readonly secrets: Secrets;
  };
  readonly shared: SharedWatches;
  readonly knowsLeader: () => boolean;
  /** Takes its place among the connections once the caller is known. @throws RosterError */
  readonly enter: (connection: UiConnection) => void;
  readonly observe: (observation: Observation) => void;
  readonly onFailure: (error: unknown) => void;
}

type Hello = ClientMessage & { readonly kind: 'hello' };

/** Close codes of RFC 6455. */
const goingAway = 1001;
const policyViolation = 1008;
const internalError = 1011;

/** A connection of the web interface. DESIGN.md */
export class UiConnection {
  readonly #options: UiConnectionOptions;
  readonly #webSocket: WebSocket;
  readonly #upgrade: Request;
  readonly #queue: MessageQueue;
  #isOver = false;
  /** Ends the wait for exact reads. */
  #goOn: () => void = () => {};
  #hello: Hello | undefined;
  /** The name of the token; `undefined` for callers without one. */
  accessor: string | undefined;
  #requests: UiRequests | undefined;
  #watches: UiWatches | undefined;

  constructor(options: UiConnectionOptions, webSocket: WebSocket, upgrade: Request) {
    this.#options = options;
    this.#webSocket = webSocket;
    this.#upgrade = upgrade;
    this.#queue = new MessageQueue(webSocket);
    webSocket.on('error', () => {});
  }

  /** Serves until the connection ends. Never rejects. */
  async serve(): Promise<void> {
    try {
      await this.#welcome();
      const beat = this.#keepAlive();
      try {
        for await (const text of this.#queue) {
          if (this.#isOver) return;
          this.#takeMessage(parseUiMessage(text));
        }
      } finally {
        beat.clear();
      }
    } catch (error) {
      this.#endWith(error);
    } finally {
      this.#endRequests();
    }
  }

  /** Ends it politely: the browser connects again, perhaps to another server. */
  goAway(): void {
    this.#endRequests();
    this.#webSocket.close(goingAway, 'The server stops.');
  }

  /** Whether a leader is known has changed: a page that was welcomed is told without a request. */
  noteLeader(): void {
    if (this.#watches !== undefined) this.#beat();
    else if (!this.#options.knowsLeader()) this.#goOn();
  }

  #beat(): void {
    this.#send({ kind: 'beat', ...this.#newest });
  }

  /** Ends the connection if its token is dead, or the state of this server too old to know that. */
  checkToken(): void {
    try {
      this.#identify();
    } catch (error) {
      this.#endWith(error);
    }
  }

  async #welcome(): Promise<void> {
    const { pipeline, enter, world, knowsLeader } = this.#options;
    const hello = await this.#receiveHello();
    const heardMs = world.clock.nowMs();
    this.#hello = hello;
    // A token that was made a moment ago has to be known here. Without a leader the newest view decides.
    if (knowsLeader()) {
      const leaderless = new Promise<void>((resolve) => {
        this.#goOn = resolve;
      });
      await Promise.race([pipeline.ready(), leaderless]).catch(() => {});
    }
    const caller = this.#identify();
    this.accessor = caller.kind === 'token' ? caller.accessor : undefined;
    enter(this);
    this.#observe(caller);
    const { secrets } = world;
    const { host, origin } = this.#upgrade.headers;
    const key = JSON.stringify([secrets.hash(hello.token), host, origin]);
    const send = (text: string): void => this.#webSocket.send(text);
    const onRefused = (answer: { readonly body?: unknown }): void => {
      if (typeof answer.body === 'string' && answer.body.includes('"token-not-found"')) {
        this.checkToken();
      }
    };
    this.#watches = new UiWatches({ shared: this.#options.shared, key, send, onRefused });
    this.#requests = new UiRequests({
      pipeline,
      onRefused,
      send: (message) => this.#send(message),
      sendPart: (part) => new Promise((resolve) => this.#webSocket.send(part, () => resolve())),
      onFailure: this.#options.onFailure,
    });
    this.#send({ kind: 'welcome', version: uiStreamVersion, heardMs, ...this.#newest });
  }

  get #newest() {
    const { state, world, knowsLeader } = this.#options;
    const { index } = state.read();
    return { index, nowMs: world.clock.nowMs(), knownLeader: knowsLeader() };
  }

  async #receiveHello(): Promise<Hello> {
    const late = Promise.withResolvers<undefined>();
    const { timers } = this.#options.world;
    const timer = timers.after(limits.uiStream.helloTimeoutMs, () => late.resolve(undefined));
    const first = await Promise.race([this.#queue.next(), late.promise]);
    timer.clear();
    if (first === undefined)
      throw new MalformedUiMessage('The first message did not come in time.');
    const hello = parseUiMessage(first);
    if (hello.kind !== 'hello') throw new MalformedUiMessage('The first message is no "hello".');
    if (hello.version !== uiStreamVersion) {
      const reason = `This server speaks version ${uiStreamVersion} of the protocol: load the page again.`;
      throw new MalformedUiMessage(reason);
    }
    return hello;
  }

  /** @throws RosterError `token-not-found`, `no-leader` */
  #identify(): Caller {
    this.#options.pipeline.requireContact();
    const token = this.#hello?.token ?? '';
    const request = requestFor({ method: 'GET', path: uiStreamPath }, this.#upgrade, token);
    return this.#options.pipeline.authorizeUpgrade(request, { kind: 'open' }, {}).caller;
  }

  #observe(caller: Caller): void {
    const trail = { caller, permission: { kind: 'open' }, isAllowed: true } as const;
    const over = { route: undefined, status: 101, durationMs: 0, trail };
    this.#options.observe({ request: this.#upgrade, ...over });
  }

  #takeMessage(message: ClientMessage): void {
    const requests = this.#requests!;
    const watches = this.#watches!;
    if (message.kind === 'hello') throw new MalformedUiMessage('A second "hello" came.');
    const { kind, id } = message;
    if (kind === 'acknowledge') watches.acknowledge(id);
    else if (kind === 'grant') requests.grant(id, message.bytes);
    else if (kind === 'end') {
      requests.end(id);
      watches.end(id);
    } else if (requests.has(id) || watches.has(id)) {
      throw new MalformedUiMessage(`The id ${id} names a request under way already.`);
    } else if (kind === 'watch') {
      watches.begin(id, () => this.#requestFor({ ...message, method: 'GET' }), message.has);
    } else if (kind === 'stream') {
      void requests.carry(id, () => this.#requestFor({ ...message, method: 'GET' }), message.bytes);
    } else void requests.carry(id, () => this.#requestFor(message));
  }

  #requestFor(asked: Parameters<typeof requestFor>[0]): Request {
    const { token, namespace, partition } = this.#hello!;
    const request = requestFor(asked, this.#upgrade, token);
    const { secretIn } = this.#options.pipeline;
    if ((secretIn.call(this.#options.pipeline, request) ?? '') !== token) {
      const reason = 'must not be given: the connection has a token of its own';
      throw refusal('invalid-query', { parameter: 'token', reason });
    }
    return { ...request, query: placedQuery(request.query, { namespace, partition }) };
  }

  #send(message: ServerMessage): void {
    this.#webSocket.send(JSON.stringify(message));
  }

  /** Ends the connection when the browser is silent, its token dead, or the state of this server too old. */
  #keepAlive() {
    const { beatIntervalMs, silentTimeoutMs } = limits.uiStream;
    const { timers } = this.#options.world;
    const webSocket = this.#webSocket;
    let silentMs = 0;
    const heard = (): void => {
      silentMs = 0;
    };
    webSocket.on('message', heard);
    webSocket.on('pong', heard);
    const beat = (): void => {
      // While messages wait here, those of the browser are not read either.
      silentMs = this.#queue.isPaused ? 0 : silentMs + beatIntervalMs;
      if (silentMs > silentTimeoutMs) return void webSocket.terminate();
      this.checkToken();
      if (this.#isOver) return;
      this.#beat();
      webSocket.ping();
      timer = timers.after(beatIntervalMs, beat);
    };
    let timer = timers.after(beatIntervalMs, beat);
    return { clear: () => timer.clear() };
  }

  #endWith(error: unknown): void {
    if (this.#isOver) return;
    const problem = this.#problemOf(error);
    this.#send({ kind: 'bye', problem });
    this.#endRequests();
    this.#webSocket.close(problem.status === 500 ? internalError : policyViolation, problem.code);
  }

  #problemOf(error: unknown): Problem {
    if (error instanceof RosterError) return problemOf(error);
    if (error instanceof MalformedUiMessage) {
      return problemOf(refusal('malformed-request', { reason: error.message }));
    }
    this.#options.onFailure(error);
    return problemOf(refusal('internal-error', { request: this.#options.world.ids.uuid() }));
  }

  #endRequests(): void {
    this.#isOver = true;
    this.#requests?.endAll();
    this.#watches?.endAll();
  }
}

/**
 * Carries requests from programs to the one server, and answers back: late, twice, or not at all.
 *
 * 1. A caller learns of exactly one end of a call: the answer, or why there is none. Neither tells it
 *    whether a request without an answer was served.
 * 2. Nothing passes between the server and a machine that is cut off.
 * 3. When the server dies, open calls end as broken connections do.
 */
import type { Answer, Request } from '../src/api/http.ts';
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Process } from './process.ts';

/** What a request is sent to. */
export interface Endpoint {
  readonly process: Process;
  handle(request: Request): Answer | Promise<Answer>;
}

export interface Reply {
  readonly status: number;
  readonly index: number;
  // biome-ignore lint/suspicious/noExplicitAny: callers look into answers of every shape.
  readonly json: any;
}

export interface Call {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly token: string;
  readonly body?: unknown;
  /** How long the caller waits for an answer. */
  readonly patienceMs: number;
}

export class NoAnswer extends Error {}

export class Network {
  /** Names of the machines that are cut off. */
  readonly cutOff = new Set<string>();
  /** Share of messages that are lost, or carried twice, each from 0 to 1. */
  lossShare = 0;
  duplicateShare = 0;
  /** The longest that a message takes. */
  latencyMaxMs = 3;
  readonly #world: SimulatedWorld;
  readonly #random: Random;
  readonly #server: () => Endpoint | undefined;

  constructor(world: SimulatedWorld, random: Random, server: () => Endpoint | undefined) {
    this.#world = world;
    this.#random = random;
    this.#server = server;
  }

  /** Rejects with {@link NoAnswer}. */
  call(caller: Process, machine: string, call: Call): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const gone = new Set<() => void>();
      let isOver = false;
      const end = (act: () => void) => {
        if (isOver) return;
        isOver = true;
        patience.clear();
        for (const run of gone) run();
        caller.post(act);
      };
      const fail = (reason: string) => end(() => reject(new NoAnswer(reason)));
      const patience = caller.world.timers.after(call.patienceMs, () => fail('timed out'));
      const deliver = () => {
        const server = this.#server();
        if (server === undefined) {
          this.#carry(machine, () => fail('connection refused'));
          return;
        }
        const stopListening = server.process.onDeath(() =>
          this.#carry(machine, () => fail('connection reset')),
        );
        const answer = (reply: Reply) => {
          stopListening();
          if (!server.process.isAlive) return;
          this.#carry(machine, () => end(() => resolve(reply)));
        };
        server.process.post(() => void serve(server, call, gone).then(answer));
      };
      this.#carry(machine, deliver);
      if (this.#random.fraction() < this.duplicateShare) this.#carry(machine, deliver);
    });
  }

  /** One message, if it arrives. */
  #carry(machine: string, arrive: () => void): void {
    if (this.cutOff.has(machine)) return;
    if (this.lossShare > 0 && this.#random.fraction() < this.lossShare) return;
    const takesMs = 0.2 + this.#random.fraction() * this.latencyMaxMs;
    this.#world.timers.after(takesMs, () => {
      if (!this.cutOff.has(machine)) arrive();
    });
  }
}

async function serve(server: Endpoint, call: Call, gone: Set<() => void>): Promise<Reply> {
  const [path = '', query = ''] = call.url.split('?', 2);
  const answer = await server.handle({
    ...{ method: call.method, path, query, headers: { 'x-registry-token': call.token } },
    body: call.body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(call.body)),
    onGone: (run) => {
      gone.add(run);
      return () => gone.delete(run);
    },
  });
  const text = await textOf(answer.body);
  return {
    status: answer.status,
    index: Number(answer.headers['x-scheduler-index'] ?? 0),
    json: text === '' ? undefined : JSON.parse(text),
  };
}

async function textOf(body: Answer['body']): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  let text = '';
  for await (const part of body) text += new TextDecoder().decode(part);
  return text;
}

/**
 * Carries requests from programs to a server, and answers back: late, twice, or not at all.
 *
 * 1. A caller learns of exactly one end of a call: the answer, or why there is none. Neither tells it
 *    whether a request without an answer was served.
 * 2. Nothing passes from or to a machine whose link is cut that way.
 * 3. When the server dies, open calls end as broken connections do.
 * 4. What calls from `loopback` is on the server's machine: nothing happens to its messages.
 */
import type { Answer, Request } from '../src/api/http.ts';
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Process } from './process.ts';

export const loopback = 'loopback';

/** What requests are sent to. */
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

/** There is no answer. Nobody looks at where it came from, so it has no stack. */
export class NoAnswer {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** What is wrong with messages; shares are from 0 to 1. */
export interface Weather {
  /** Share that is lost. */
  lossShare: number;
  /** Share that is carried a second time, up to so much later. */
  duplicateShare: number;
  duplicateMaxMs: number;
  /** The longest that one takes. */
  latencyMaxMs: number;
}

export const fairWeather: Readonly<Weather> = {
  lossShare: 0,
  duplicateShare: 0,
  duplicateMaxMs: 0,
  latencyMaxMs: 3,
};

type Direction = 'from' | 'to';

export class Network {
  /** Of all links. */
  readonly weather: Weather = { ...fairWeather };
  /** Of one machine's link, on top. */
  readonly links = new Map<string, Weather>();
  /** Told of every answer as it leaves the server, whether it arrives or not. */
  onServed: (call: Call, reply: Reply) => void = () => {};
  readonly #cuts: Readonly<Record<Direction, Set<string>>> = { from: new Set(), to: new Set() };
  readonly #world: SimulatedWorld;
  readonly #random: Random;
  readonly #server: (machine: string) => Endpoint | undefined;

  /** `server`: the server that receives a call of the machine. */
  constructor(
    world: SimulatedWorld,
    random: Random,
    server: (machine: string) => Endpoint | undefined,
  ) {
    this.#world = world;
    this.#random = random;
    this.#server = server;
  }

  /** Nothing comes from the machine, or goes to it, until the result is called. */
  cut(machine: string, ...directions: readonly Direction[]): () => void {
    for (const direction of directions) this.#cuts[direction].add(machine);
    return () => {
      for (const direction of directions) this.#cuts[direction].delete(machine);
    };
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
      const fail = (reason: NoAnswer) => end(() => reject(reason));
      const patience = caller.world.timers.after(call.patienceMs, () => fail(timedOut));
      const back = (arrive: () => void) => this.carry(machine, 'to', arrive);
      const deliver = () => {
        const server = this.#server(machine);
        if (server === undefined) return back(() => fail(refused));
        const stopListening = server.process.onDeath(() => back(() => fail(reset)));
        const answered = (reply: Reply) => {
          stopListening();
          if (!server.process.isAlive) return;
          this.onServed(call, reply);
          back(() => end(() => resolve(reply)));
        };
        server.process.post(() => serve(server, caller, call, gone, answered));
      };
      this.carry(machine, 'from', deliver);
      const { duplicateShare, duplicateMaxMs } = this.#of(machine);
      if (duplicateShare === 0 || this.#random.fraction() >= duplicateShare) return;
      const lateMs = this.#random.fraction() * duplicateMaxMs;
      this.#world.timers.after(lateMs, () => this.carry(machine, 'from', deliver));
    });
  }

  #of(machine: string): Readonly<Weather> {
    if (machine === loopback) return fairWeather;
    return this.links.get(machine) ?? this.weather;
  }

  /** One message, if it arrives. */
  carry(machine: string, direction: Direction, arrive: () => void): void {
    const cuts = this.#cuts[direction];
    if (cuts.has(machine)) return;
    const { lossShare, latencyMaxMs } = this.#of(machine);
    if (lossShare > 0 && this.#random.fraction() < lossShare) return;
    const takesMs = 0.2 + this.#random.fraction() * latencyMaxMs;
    this.#world.timers.after(takesMs, () => {
      if (!cuts.has(machine)) arrive();
    });
  }
}

const timedOut = new NoAnswer('timed out');
const refused = new NoAnswer('connection refused');
const reset = new NoAnswer('connection reset');

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function serve(
  server: Endpoint,
  connection: object,
  { method, url, token, body }: Call,
  gone: Set<() => void>,
  answered: (reply: Reply) => void,
): void {
  const [path = '', query = ''] = url.split('?', 2);
  const answer = server.handle({
    ...{ method, path, query, headers: { 'x-registry-token': token }, connection },
    body: body === undefined ? undefined : encoder.encode(JSON.stringify(body)),
    onGone: (run) => {
      gone.add(run);
      return () => gone.delete(run);
    },
  });
  const take = (made: Answer): void => {
    const { body: sent } = made;
    if (!isStream(sent)) answered(new Received(made));
    // One that breaks off is no answer.
    else
      collected(sent).then(
        (text) => answered(new Received({ ...made, body: text })),
        () => {},
      );
  };
  if (answer instanceof Promise) void answer.then(take);
  else take(answer);
}

const isStream = (body: Answer['body']): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && Symbol.asyncIterator in body;

/** A long list comes in parts, as fast as the server makes them. */
async function collected(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of body) text += decoder.decode(part, { stream: true });
  return text;
}

/** What is not looked into is not parsed. */
class Received implements Reply {
  readonly status: number;
  readonly index: number;
  readonly #body: Answer['body'];

  constructor({ status, headers, body }: Answer) {
    this.status = status;
    this.index = Number(headers['x-scheduler-index'] ?? 0);
    this.#body = body;
  }

  get json() {
    const body = this.#body;
    const text = body instanceof Uint8Array ? decoder.decode(body) : body;
    return typeof text === 'string' && text !== '' ? JSON.parse(text) : undefined;
  }
}

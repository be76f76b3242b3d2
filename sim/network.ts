/**
 * Carries requests to a server and answers back. Messages may arrive late, twice, or not at all.
 *
 * 1. Each call ends once, with an answer or with the reason why there is none. A call without an answer
 *    may have been served.
 * 2. No message crosses a link in a direction that is cut.
 * 3. When the server dies, open calls end like broken connections.
 * 4. Callers on `loopback` are on the server's machine: their messages always arrive.
 */
import type { Answer, Request } from '../src/api/http.ts';
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Process } from './process.ts';

export const loopback = 'loopback';

/** A server that takes requests. */
export interface Endpoint {
  readonly process: Process;
  handle(request: Request): Answer | Promise<Answer>;
}

export interface Reply {
  readonly status: number;
  readonly index: number;
  /** The age of the state that answered. */
  readonly contactMs: number;
  // biome-ignore lint/suspicious/noExplicitAny: callers look into answers of every shape.
  readonly json: any;
  /** The bytes of a file that was asked for. */
  readonly file: Uint8Array | undefined;
}

export interface Call {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly token: string;
  /** Beside the token. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Makes a body that is sent in pieces. */
  readonly sentFile?: () => AsyncIterable<Uint8Array>;
  /** Whether the answer is a file and no text. */
  readonly takesFile?: boolean;
  /** How long the caller waits for an answer. */
  readonly patienceMs: number;
  /** Called when the network delivers the request a second time: after its answer it may still run again. */
  readonly onDuplicate?: () => void;
}

/** The end of a call without an answer. It is no `Error`, because a stack would cost time. */
export class NoAnswer {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** The faults of messages. Shares are from 0 to 1. */
export interface Weather {
  lossShare: number;
  /** Share of requests that arrive a second time, up to `duplicateMaxMs` later. */
  duplicateShare: number;
  duplicateMaxMs: number;
  latencyMaxMs: number;
}

export const fairWeather: Readonly<Weather> = {
  lossShare: 0,
  duplicateShare: 0,
  duplicateMaxMs: 0,
  latencyMaxMs: 3,
};

export type Direction = 'from' | 'to';

export class Network {
  /** The weather of all links without an entry in `links`. */
  readonly weather: Weather = { ...fairWeather };
  /** The weather of single links, by machine. */
  readonly links = new Map<string, Weather>();
  /** Takes every answer that leaves the server, even if it is lost on the way. */
  onServed: (call: Call, reply: Reply) => void = () => {};
  readonly #cuts: Readonly<Record<Direction, Set<string>>> = { from: new Set(), to: new Set() };
  readonly #world: SimulatedWorld;
  readonly #random: Random;
  readonly #server: (machine: string) => Endpoint | undefined;

  /** @param server the server that receives a call of the machine */
  constructor(
    world: SimulatedWorld,
    random: Random,
    server: (machine: string) => Endpoint | undefined,
  ) {
    this.#world = world;
    this.#random = random;
    this.#server = server;
  }

  /** Cuts the link of the machine in these directions, until the result is called. */
  cut(machine: string, ...directions: readonly Direction[]): () => void {
    for (const direction of directions) this.#cuts[direction].add(machine);
    return () => {
      for (const direction of directions) this.#cuts[direction].delete(machine);
    };
  }

  /** Rejects with {@link NoAnswer}. */
  call(caller: Process, machine: string, call: Call): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const onGone = new Set<() => void>();
      let isOver = false;
      const end = (act: () => void) => {
        if (isOver) return;
        isOver = true;
        patience.clear();
        for (const run of onGone) run();
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
        server.process.post(() => serve(server, { caller, call, onGone, answered }));
      };
      this.carry(machine, 'from', deliver);
      const { duplicateShare, duplicateMaxMs } = this.#weatherOf(machine);
      if (duplicateShare === 0 || this.#random.fraction() >= duplicateShare) return;
      call.onDuplicate?.();
      const lateMs = this.#random.fraction() * duplicateMaxMs;
      this.#world.timers.after(lateMs, () => this.carry(machine, 'from', deliver));
    });
  }

  #weatherOf(machine: string): Readonly<Weather> {
    if (machine === loopback) return fairWeather;
    return this.links.get(machine) ?? this.weather;
  }

  /** Delivers or loses a message. */
  carry(machine: string, direction: Direction, arrive: () => void): void {
    const cuts = this.#cuts[direction];
    if (cuts.has(machine)) return;
    const { lossShare, latencyMaxMs } = this.#weatherOf(machine);
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

interface Delivered {
  readonly caller: object;
  readonly call: Call;
  /** Called when the caller no longer waits. */
  readonly onGone: Set<() => void>;
  readonly answered: (reply: Reply) => void;
}

function serve(server: Endpoint, { caller, call, onGone, answered }: Delivered): void {
  const { method, url, token, headers, body, sentFile, takesFile } = call;
  const [path = '', query = ''] = url.split('?', 2);
  const answer = server.handle({
    method,
    path,
    query,
    headers: { 'x-registry-token': token, ...headers },
    connection: caller,
    body: body === undefined ? undefined : encoder.encode(JSON.stringify(body)),
    unread: sentFile?.(),
    onGone: (run) => {
      onGone.add(run);
      return () => onGone.delete(run);
    },
  });
  const take = (made: Answer): void => {
    const { body: sent } = made;
    if (!isStream(sent)) answered(new Received(made));
    // A stream that breaks off is not an answer.
    else
      (takesFile ? fileOf(sent) : collected(sent)).then(
        (body) => answered(new Received({ ...made, body })),
        () => {},
      );
  };
  if (answer instanceof Promise) void answer.then(take);
  else take(answer);
}

const isStream = (body: Answer['body']): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && Symbol.asyncIterator in body;

/** The text of a long list, which the server sends in parts. */
async function collected(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of body) text += decoder.decode(part, { stream: true });
  return text;
}

async function fileOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

/** An answer that is parsed only when somebody reads its body. */
class Received implements Reply {
  readonly status: number;
  readonly index: number;
  readonly contactMs: number;
  readonly #body: Answer['body'];

  constructor({ status, headers, body }: Answer) {
    this.status = status;
    this.index = Number(headers['x-scheduler-index'] ?? 0);
    this.contactMs = Number(headers['x-scheduler-lastcontact'] ?? 0);
    this.#body = body;
  }

  get file(): Uint8Array | undefined {
    return this.#body instanceof Uint8Array ? this.#body : undefined;
  }

  get json() {
    const body = this.#body;
    const text = body instanceof Uint8Array ? decoder.decode(body) : body;
    return typeof text === 'string' && text !== '' ? JSON.parse(text) : undefined;
  }
}

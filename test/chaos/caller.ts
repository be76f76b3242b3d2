/** Requests of clients to the servers, each with its outcome, and what is wrong with an answer. */
import { Agent, type IncomingMessage, request } from 'node:http';

export interface Reply {
  readonly status: number;
  /** The index of the state that it shows. */
  readonly index: number;
  // biome-ignore lint/suspicious/noExplicitAny: callers look into answers of every shape.
  readonly json: any;
}

export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export type Outcome = 'done' | 'refused' | 'unknown' | 'wrong';

/** 503 with which a server says that it has certainly not run the request. */
const notRun = ['no-leader', 'not-leader'];
const patienceMs = 30_000;

/** @param isWrite whether the request may change the state */
export function outcomeOf(
  { status, json }: Pick<Reply, 'status' | 'json'>,
  isWrite: boolean,
): Outcome {
  if (status < 400) return 'done';
  if (status < 500) return status === 408 || status === 429 ? 'wrong' : 'refused';
  if (status === 503 && notRun.includes(json?.code)) return 'refused';
  if (status === 503 && json?.code === 'outcome-unknown' && isWrite) return 'unknown';
  return 'wrong';
}

export interface CallerOptions {
  /** Address of each server, `host:port`. */
  readonly addresses: readonly string[];
  readonly token: string;
  /** Takes an answer that no server may give. */
  readonly wrong: (sentence: string) => void;
  /** Whether an answer that would be wrong is explained by a fault. */
  readonly isExplained: (reply: Reply, server: number) => boolean;
}

export class Caller {
  readonly counts: Record<Outcome | 'explained' | 'unanswered', number> = {
    done: 0,
    refused: 0,
    unknown: 0,
    unanswered: 0,
    wrong: 0,
    explained: 0,
  };
  /** The longest time between two writes that were done. */
  longestGapMs = 0;
  #writtenMs = performance.now();
  readonly #options: CallerOptions;
  readonly #connections = new Agent({ keepAlive: true });

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Resolves with `undefined` if there is no answer: a write may run at any later time. */
  async ask(server: number, asked: Asked): Promise<Reply | undefined> {
    const isWrite = asked.method !== 'GET';
    const reply = await this.#send(server, asked);
    if (reply === undefined) {
      this.counts[isWrite ? 'unknown' : 'unanswered']++;
      return undefined;
    }
    const outcome = outcomeOf(reply, isWrite);
    if (outcome !== 'wrong') {
      this.counts[outcome]++;
      if (outcome === 'done' && isWrite) this.#noteWrite();
      return reply;
    }
    if (this.#options.isExplained(reply, server)) {
      this.counts.explained++;
      return reply;
    }
    this.counts.wrong++;
    const { method, url } = asked;
    const told = `${reply.status} ${JSON.stringify(reply.json)?.slice(0, 300)}`;
    this.#options.wrong(`server ${server} answered ${method} ${url} with ${told}`);
    return reply;
  }

  close(): void {
    this.#connections.destroy();
  }

  #noteWrite(): void {
    const nowMs = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, nowMs - this.#writtenMs);
    this.#writtenMs = nowMs;
  }

  #send(server: number, { method, url, headers = {}, body }: Asked): Promise<Reply | undefined> {
    const { addresses, token } = this.#options;
    const { promise, resolve } = Promise.withResolvers<Reply | undefined>();
    const sent = request(`http://${addresses[server]}${url}`, {
      method,
      agent: this.#connections,
      headers: { 'x-registry-token': token, ...headers },
      signal: AbortSignal.timeout(patienceMs),
    });
    sent.on('error', () => resolve(undefined));
    sent.on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      answer.on('error', () => resolve(undefined));
      answer.on('close', () => {
        if (!answer.complete) resolve(undefined);
        else
          resolve({ status: answer.statusCode ?? 0, index: indexOf(answer), json: parsed(text) });
      });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }
}

const indexOf = ({ headers }: IncomingMessage): number =>
  Number(headers['x-scheduler-index'] ?? headers['x-registry-index']);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === '' ? undefined : { text };
  }
}

/** Somebody who calls the API with the root token, over the network that may fail. */
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Network, Reply } from './network.ts';
import { Process } from './process.ts';
import { rootToken } from './server.ts';

const patienceMs = 20_000;
const againMs = 1000;

export interface ClientOptions {
  readonly world: SimulatedWorld;
  readonly network: Network;
  /** An answer that no good server gives. */
  readonly unexpected: (sentence: string) => void;
}

export class Client {
  readonly #process: Process;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#process = new Process(options.world);
  }

  after(delayMs: number, run: () => void): void {
    this.#process.world.timers.after(delayMs, run);
  }

  /** What is asked may well be refused. Rejects with `NoAnswer`. */
  async call(method: string, url: string, body?: unknown): Promise<Reply> {
    const call = { method, url, token: rootToken, patienceMs, ...(body !== undefined && { body }) };
    const reply = await this.#options.network.call(this.#process, 'client', call);
    // No leader, writes closed, a node out of reach and too many requests have to be borne.
    if (reply.status >= 500 && reply.status !== 503) this.#surprised(method, url, reply);
    return reply;
  }

  /** The same for what there is no reason to refuse. */
  async must(method: string, url: string, body?: unknown): Promise<Reply> {
    const reply = await this.call(method, url, body);
    if (reply.status >= 400 && reply.status < 500) this.#surprised(method, url, reply);
    return reply;
  }

  /** Asks until there is an answer; a refusal is one. */
  async surely(method: string, url: string, body?: unknown): Promise<Reply> {
    for (;;) {
      try {
        const reply = await this.call(method, url, body);
        if (reply.status < 500) return reply;
      } catch {
        // Asked again below.
      }
      await new Promise<void>((go) => this.after(againMs, go));
    }
  }

  #surprised(method: string, url: string, { status, json }: Reply): void {
    const answer = JSON.stringify(json);
    this.#options.unexpected(`${method} ${url} was answered with ${status}: ${answer}`);
  }
}

/** A user who calls the API with the root token, over the simulated network. */
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Network, Reply } from './network.ts';
import { Process } from './process.ts';
import { rootToken } from './server.ts';

const patienceMs = 20_000;
const againMs = 1000;

export interface ClientOptions {
  readonly world: SimulatedWorld;
  readonly network: Network;
  /** Takes an answer that no correct server gives. */
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

  /** Sends a request that may be refused. Rejects with `NoAnswer`. */
  async call(method: string, url: string, body?: unknown): Promise<Reply> {
    const call = { method, url, token: rootToken, patienceMs, ...(body !== undefined && { body }) };
    const reply = await this.#options.network.call(this.#process, 'client', call);
    // 503 is expected: there may be no leader, writes may be closed, a node may be out of reach.
    if (reply.status >= 500 && reply.status !== 503) this.#reportUnexpected(method, url, reply);
    return reply;
  }

  /** Sends a request that the server has no reason to refuse. */
  async must(method: string, url: string, body?: unknown): Promise<Reply> {
    const reply = await this.call(method, url, body);
    if (reply.status >= 400 && reply.status < 500) this.#reportUnexpected(method, url, reply);
    return reply;
  }

  /** Repeats the request until an answer arrives, which may be a refusal. */
  async surely(method: string, url: string, body?: unknown): Promise<Reply> {
    for (;;) {
      try {
        const reply = await this.call(method, url, body);
        if (reply.status < 500) return reply;
      } catch {
        // The loop asks again.
      }
      await new Promise<void>((go) => this.after(againMs, go));
    }
  }

  #reportUnexpected(method: string, url: string, { status, json }: Reply): void {
    const answer = JSON.stringify(json);
    this.#options.unexpected(`${method} ${url} was answered with ${status}: ${answer}`);
  }
}

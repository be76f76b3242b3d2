/** A client of an agent over HTTP that closes all its connections when it leaves. */
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Target } from '../../bench/target.ts';

export interface Answer {
  readonly status: number;
  readonly index: number;
  readonly text: string;
}

export class Visitor {
  readonly #target: Target;
  readonly #connections = new Agent({ keepAlive: true });
  readonly #leaving = new AbortController();

  constructor(target: Target) {
    this.#target = target;
  }

  get hasLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  leave(): void {
    this.#leaving.abort();
    this.#connections.destroy();
  }

  /** Rejects when the agent cannot be reached, or the visitor has left. */
  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.#send(method, path, body);
    let text = '';
    for await (const part of answer.setEncoding('utf8')) text += part;
    const index = Number(answer.headers['x-scheduler-index'] ?? 0);
    return { status: answer.statusCode ?? 0, index, text };
  }

  /** Reads until the agent ends it, or until `isEnough`. */
  async follow(path: string, isEnough: () => boolean = () => false): Promise<void> {
    const answer = await this.#send('GET', path);
    for await (const _ of answer) if (isEnough()) break;
    answer.destroy();
  }

  #send(method: string, path: string, body?: unknown): Promise<IncomingMessage> {
    const { host, port, token } = this.#target;
    const { signal } = this.#leaving;
    const headers = { 'x-registry-token': token };
    return new Promise((resolve, reject) => {
      const asked = request(
        { host, port, method, path, headers, signal, agent: this.#connections },
        resolve,
      );
      asked.on('error', reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

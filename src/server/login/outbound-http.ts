import type { Agent, Dispatcher } from 'undici';
import type { Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import { type Outbound, type OutboundAnswer, OutboundError } from './outbound.ts';

/** Calls identity providers over HTTP. Connections are kept by authority until `close`. */
export class HttpOutbound {
  readonly #timers: Timers;
  readonly #agents = new Map<string, Agent>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  readonly call: Outbound = async ({ method, url, headers, body, caCertificate }) => {
    const { timeoutMs } = limits.outbound;
    const { default: undici } = await import('undici');
    const late = new AbortController();
    const timer = this.#timers.after(timeoutMs, () => late.abort(new Error('too late')));
    try {
      const answer = await undici.request(url, {
        method,
        headers: { accept: 'application/json', ...headers },
        body: body ?? null,
        dispatcher: this.#agent(undici, caCertificate),
        signal: late.signal,
      });
      return await whole(url, answer);
    } catch (error) {
      if (error instanceof OutboundError) throw error;
      if (late.signal.aborted) {
        throw new OutboundError(`${url} did not answer within ${timeoutMs / 1000} s`);
      }
      throw new OutboundError(`${url} cannot be reached: ${reasonOf(error)}`);
    } finally {
      timer.clear();
    }
  };

  async close(): Promise<void> {
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  #agent(undici: typeof import('undici').default, caCertificate: string): Agent {
    const known = this.#agents.get(caCertificate);
    if (known !== undefined) return known;
    const agent = new undici.Agent({
      connect: { timeout: limits.outbound.timeoutMs, ...(caCertificate && { ca: caCertificate }) },
      connections: 16,
      maxHeaderSize: limits.http.headerBytesMax,
    });
    this.#agents.set(caCertificate, agent);
    if (this.#agents.size > limits.outbound.providersKept) {
      const [oldest, stale] = this.#agents.entries().next().value!;
      this.#agents.delete(oldest);
      void stale.close();
    }
    return agent;
  }
}

async function whole(url: string, answer: Dispatcher.ResponseData): Promise<OutboundAnswer> {
  const { answerBytesMax } = limits.outbound;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) {
      answer.body.destroy();
      throw new OutboundError(`${url} answered with more than ${answerBytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  const headers = Object.entries(answer.headers).map(
    ([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')] as const,
  );
  const body = Buffer.concat(chunks).toString('utf8');
  return { status: answer.statusCode, headers: Object.fromEntries(headers), body };
}

function reasonOf(error: unknown): string {
  const { code, message, cause } = error as NodeJS.ErrnoException & { cause?: unknown };
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'ECONNRESET') return code;
  return (message || (cause as Error | undefined)?.message) ?? 'the connection failed';
}

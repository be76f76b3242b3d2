import { Agent, request } from 'node:http';
import { isIP } from 'node:net';
import { limits } from './limits.ts';

/** A server to measure. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

/** @throws Error unless the address is HTTP on this very machine. */
export function targetOf(base: string, token: string): Target {
  const url = new URL(base);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'http:') throw new Error(`${base}: only http:// can be measured`);
  if (!isLoopback(host)) {
    throw new Error(`${base}: only a server on this machine is measured, at 127.0.0.1 or ::1`);
  }
  return { host, port: Number(url.port || 80), token };
}

/** Whether the host is a loopback address in digits, since a name could resolve to any address. */
const isLoopback = (host: string): boolean =>
  (isIP(host) === 4 && host.startsWith('127.')) || host === '::1';

export const authorityOf = ({ host, port }: Target): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const keepAlive = new Agent({ keepAlive: true, maxSockets: 32 });

/** Sends a request outside of the measured load. Rejects if the server cannot be reached. */
export function ask(target: Target, method: string, path: string, body?: unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { host, port, token } = target;
    const headers = { 'x-registry-token': token };
    const options = { host, port, method, path, headers, agent: keepAlive };
    const asked = request({ ...options, timeout: limits.answerMs }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const { statusCode = 0, headers } = answer;
        resolve({ status: statusCode, headers, body: Buffer.concat(chunks) });
      });
    });
    asked.on('timeout', () => asked.destroy(new Error(`${method} ${path}: no answer in time`)));
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

export interface Found<T> {
  readonly value: T;
  /** The index for a blocking query that waits for the next change. */
  readonly index: number;
}

/** Sends a request whose answer has to be a 200 with JSON. */
export async function call<T>(
  target: Target,
  method: string,
  path: string,
  body?: unknown,
): Promise<Found<T>> {
  const reply = await ask(target, method, path, body);
  if (reply.status !== 200) {
    throw new Error(`${method} ${path} was answered with ${reply.status}: ${reply.body}`);
  }
  return {
    value: JSON.parse(reply.body.toString()) as T,
    index: indexIn(reply),
  };
}

/** The header has the name of the program. */
function indexIn({ headers }: Reply): number {
  const name = Object.keys(headers).find((header) => /^x-[a-z]+-index$/.test(header));
  return name === undefined ? 0 : Number(headers[name]);
}

/**
 * The gauges of the server by name, without the prefix `roster_`: the sum of its samples, and each sample under the name
 * with the values of its labels behind it.
 */
export async function gauges(target: Target): Promise<Readonly<Record<string, number>>> {
  type Sample = { value: number; labels: Readonly<Record<string, string>> };
  type Metric = { name: string; values: readonly Sample[] };
  const { value } = await call<readonly Metric[]>(target, 'GET', '/v1/metrics');
  return Object.fromEntries(
    value.flatMap(({ name, values }) => {
      const short = name.replace(/^roster_/, '');
      const each = values.map((one) => [
        [short, ...Object.values(one.labels)].join(' '),
        one.value,
      ]);
      return [...each, [short, values.reduce((sum, one) => sum + one.value, 0)]];
    }),
  );
}

import { spawn } from 'node:child_process';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError } from '../errors.ts';
import { cliLimits } from '../limits.ts';
import { type Page, renderPage } from './page.ts';

/** The user's browser, for a login. */
export interface Browser {
  /** Tries to open the address, which is printed in any case. */
  open(url: string): void;
  /** Listens on `host:port` for the redirect that ends the login. @throws CliError */
  awaitRedirect(address: string, signal: AbortSignal): Promise<Redirect>;
}

/** The local address that the provider redirects the browser to. */
export interface Redirect {
  readonly uri: string;
  /** The next request, which may not be the expected one. Rejects with the signal's reason. */
  next(): Promise<Arrival>;
  /** Answers the remaining requests, and closes. */
  close(): Promise<void>;
}

export interface Arrival {
  readonly query: URLSearchParams;
  /** Shows a page; resolves when it was sent, or the connection was closed. */
  answer(page: Page): Promise<void>;
}

const path = '/oidc/callback';

export const systemBrowser: Browser = {
  open(url) {
    const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
    spawn(program, [url], { stdio: 'ignore', detached: true })
      .on('error', () => {})
      .unref();
  },
  async awaitRedirect(address, signal) {
    const match = /^(localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})$/.exec(address);
    if (match === null) {
      throw new CliError(
        `--callback-address must be a loopback address such as localhost:8550, got "${address}".`,
      );
    }
    const [, host, port] = match as unknown as [string, string, string];
    const arrivals = new Arrivals(signal);
    const server = createServer((request, response) => {
      const url = URL.parse(request.url ?? '/', 'http://localhost');
      if (url?.pathname !== path) return void response.writeHead(404).end();
      if (request.method !== 'GET') return void response.writeHead(405, { allow: 'GET' }).end();
      arrivals.add({ query: url.searchParams, answer: (page) => send(response, page) });
    });
    await listen(server, host.replace(/[[\]]/g, ''), Number(port), address);
    const taken = (server.address() as AddressInfo).port;
    return {
      uri: `http://${host}:${taken}${path}`,
      next: () => arrivals.next(),
      close: async () => {
        await arrivals.end();
        await close(server);
      },
    };
  },
};

/** The requests that wait to be taken. */
class Arrivals {
  readonly #signal: AbortSignal;
  readonly #waiting: Arrival[] = [];
  #taker: ((arrival: Arrival) => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(arrival: Arrival): void {
    const taker = this.#taker;
    this.#taker = undefined;
    if (taker !== undefined) taker(arrival);
    else if (this.#waiting.length < cliLimits.login.waitingMax) this.#waiting.push(arrival);
    else void arrival.answer(over);
  }

  next(): Promise<Arrival> {
    return new Promise((resolve, reject) => {
      const signal = this.#signal;
      const stop = () => reject(signal.reason);
      if (signal.aborted) return stop();
      const first = this.#waiting.shift();
      if (first !== undefined) return resolve(first);
      signal.addEventListener('abort', stop, { once: true });
      this.#taker = (arrival) => {
        signal.removeEventListener('abort', stop);
        resolve(arrival);
      };
    });
  }

  async end(): Promise<void> {
    await Promise.all(this.#waiting.splice(0).map((arrival) => arrival.answer(over)));
  }
}

const over: Page = {
  isFine: false,
  title: 'Nothing is awaited here',
  text: 'The login that this belongs to is over.',
};

function send(response: ServerResponse, page: Page): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed) return resolve();
    response.on('close', resolve);
    response.writeHead(page.isFine ? 200 : 403, {
      'content-type': 'text/html; charset=utf-8',
      // The page loads nothing, and its address is not passed on.
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(renderPage(page));
  });
}

function listen(server: Server, host: string, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) => {
      const hint = 'Choose another with --callback-address; the auth method must allow it.';
      reject(new CliError(`The browser cannot come back to ${address}: ${message}.`, { hint }));
    });
    server.listen(port, host, resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError } from '../errors.ts';

/** What a login needs of the browser of whoever sits at this machine. */
export interface Browser {
  /** Opens the address, if there is a way to; the address was printed anyway. */
  open(url: string): void;
  /** Listens on `host:port` for the one redirect that ends the login. @throws CliError */
  awaitRedirect(address: string, signal: AbortSignal): Promise<Redirect>;
}

export interface Redirect {
  readonly uri: string;
  /** The query of the redirect. Rejects with the signal's reason. */
  readonly query: Promise<URLSearchParams>;
  close(): Promise<void>;
}

const path = '/oidc/callback';
const page =
  '<!doctype html><meta charset="utf-8"><title>Roster</title>' +
  '<p>You may close this window and go back to the terminal.</p>\n';

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
    const server = createServer();
    const query = new Promise<URLSearchParams>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      server.on('request', (request, response) => {
        const url = new URL(request.url ?? '/', 'http://localhost');
        const isRedirect = url.pathname === path;
        response.writeHead(isRedirect ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
        response.end(isRedirect ? page : undefined);
        if (isRedirect) resolve(url.searchParams);
      });
    });
    // Somebody else awaits it; until then nothing is wrong.
    query.catch(() => {});
    await listen(server, host.replace(/[[\]]/g, ''), Number(port), address);
    const taken = (server.address() as AddressInfo).port;
    return { uri: `http://${host}:${taken}${path}`, query, close: () => close(server) };
  },
};

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

/** The one connection of a tab, in the world of a page. */
import { createBrowserClient } from '../../../src/sdk/browser.ts';
import { pause } from '../../../src/sdk/pause-real.ts';
import { clock } from '../app/clock.svelte.ts';
import { execSocketOpener } from './exec-socket.ts';
import { limits } from './limits.ts';
import type { Live, LiveState } from './live.ts';
import { type PageSocket, StreamSocket, type StreamSocketOptions } from './stream-socket.ts';
import { streamTransport } from './stream-transport.ts';
import { submit } from './submission.ts';

export interface ConnectOptions {
  /** The folder of the API, with the slash at its end: `https://example.com/prefix/v1/`. */
  readonly api: URL;
  /** Asked for each connection. */
  readonly hello: StreamSocketOptions['hello'];
}

export interface Connection extends Live {
  /** Begins again, since the token, the namespace or the partition of the hello is another. */
  renew(): void;
  /** Tries at once to connect again. */
  retry(): void;
}

/** @param options where the API is, and whose token is shown to it */
export function connect({ api, hello }: ConnectOptions): Connection {
  let state = $state.raw<LiveState>({
    kind: 'connecting',
    sinceMs: Date.now(),
    lastHeardMs: 0,
    followedMs: 0,
    index: 0,
  });
  const after = (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  };
  const socketUrl = (path: string): string => new URL(path, api).href.replace(/^http/, 'ws');
  const socket = new StreamSocket({
    open: () => new WebSocket(socketUrl('ui/stream')) as unknown as PageSocket,
    hello,
    nowMs: () => Date.now(),
    onClock: (aheadMs) => clock.follow(aheadMs),
    after,
    fraction: () => Math.random(),
    onState: (next) => {
      state = next;
    },
  });
  const address = api.host;
  const transport = streamTransport({
    socket,
    address,
    after,
    repeats: { newKey, pause },
    openSocket: execSocketOpener({
      // Paths of requests begin with /v1/, which is the folder of the API.
      open: (path) => new WebSocket(socketUrl(path.replace(/^\/v1\//, ''))),
      token: () => hello().token ?? '',
      address,
    }),
  });
  followVisibility(socket, after);
  window.addEventListener('online', () => socket.retry());
  return {
    client: createBrowserClient({ transport, address }),
    submit: (run) => submit({ transport, address }, run),
    watch: (path, listener) => socket.watch(path, listener),
    renew: () => socket.renew(),
    retry: () => socket.retry(),
    get state() {
      return state;
    },
  };
}

/** A tab that nobody sees costs nothing. */
function followVisibility(
  socket: StreamSocket,
  after: (delayMs: number, run: () => void) => () => void,
): void {
  let stop: () => void = () => {};
  document.addEventListener('visibilitychange', () => {
    stop();
    if (document.visibilityState === 'hidden') {
      stop = after(limits.hiddenAfterMs, () => socket.pause());
    } else socket.resume();
  });
}

/** A UUID. Pages without TLS have no `randomUUID`. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

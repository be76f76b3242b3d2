import { ApiError, ConnectionError } from '../../../src/sdk/errors.ts';
import { namespacesOf, partitionsOf } from '../../../src/sdk/acl.ts';
import type { Requester } from '../../../src/sdk/requester.ts';
import type { Problem } from '../app/problems.ts';
import { uiBase } from '../base.ts';
import type { LiveState, WatchListener } from './live.ts';

const root = new URL('..', uiBase);

export function fetchLive(token: () => string | undefined) {
  let state = $state.raw<LiveState>({ kind: 'connecting', sinceMs: Date.now(), lastHeardMs: 0, index: 0 });
  const is = (kind: LiveState['kind']) => {
    const sinceMs = state.kind === kind ? state.sinceMs : Date.now();
    state = { kind, sinceMs, lastHeardMs: kind === 'open' ? Date.now() : state.lastHeardMs, index: 0 };
  };
  async function send(method: string, path: string, body?: unknown, signal?: AbortSignal) {
    let answer: Response;
    try {
      answer = await fetch(new URL(path.replace(/^\//, ''), root), {
        method,
        headers: { ...(token() !== undefined && { 'x-registry-token': token()! }) },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      });
    } catch {
      if (!signal?.aborted) is('away');
      throw new ConnectionError(root.href, 'LOST', 'The server did not answer.');
    }
    is('open');
    const text = await answer.text();
    const value = text === '' ? undefined : JSON.parse(text);
    const header = (name: string) =>
      answer.headers.get(`x-registry-${name}`) ?? answer.headers.get(`x-scheduler-${name}`) ?? undefined;
    if (!answer.ok) throw Object.assign(new ApiError({ ...value, status: answer.status }), { problem: value });
    return { value, index: Number(header('index') ?? 0), nextToken: header('nexttoken') };
  }
  const search = (path: string, query: object = {}) => {
    const given = Object.entries(query).filter(([, v]) => v !== undefined && v !== '');
    return given.length === 0 ? path : `${path}?${new URLSearchParams(given as never)}`;
  };
  const requester = {
    read: async (path: string, _options: object, query: object) => send('GET', search(path, query)),
    write: async (target: { method: string; path: string }, _o: object, body: unknown, query: object) =>
      send(target.method, search(target.path, query), body),
  } as unknown as Requester;
  function watch<T>(path: string, listener: WatchListener<T>): () => void {
    const ending = new AbortController();
    void (async () => {
      let index = 0;
      while (!ending.signal.aborted) {
        try {
          const at = `${path}${path.includes('?') ? '&' : '?'}index=${index}&wait=30s`;
          const answer = await send('GET', at, undefined, ending.signal);
          if (ending.signal.aborted) return;
          if (answer.index !== index || index === 0) {
            const about = { index: answer.index, stale: false, receivedMs: Date.now(), nextToken: answer.nextToken };
            listener.value(answer.value as T, about);
          }
          if (answer.index === index) await new Promise((done) => setTimeout(done, 1000));
          index = answer.index;
        } catch (error) {
          if (ending.signal.aborted) return;
          const { problem } = error as { problem?: Problem };
          if (problem !== undefined) listener.refused(problem);
          index = 0;
          await new Promise((done) => setTimeout(done, 2000));
        }
      }
    })();
    return () => ending.abort();
  }
  const client = { namespaces: namespacesOf(requester), partitions: partitionsOf(requester) };
  return {
    client,
    watch,
    get state() {
      return state;
    },
  };
}
export interface BrowserClient {
  namespaces: ReturnType<typeof namespacesOf>;
  partitions: ReturnType<typeof partitionsOf>;
}

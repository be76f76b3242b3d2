/** The page's side of the connection, without a browser, over real WebSockets to an agent in this process. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type Agent, createAgent } from '../../src/agent.ts';
import { ApiError, createBrowserClient } from '../../src/sdk/browser.ts';
import { pause } from '../../src/sdk/pause-real.ts';
import type { WatchListener } from '../../ui/src/live/live.ts';
import { type PageSocket, StreamSocket } from '../../ui/src/live/stream-socket.ts';
import { streamTransport } from '../../ui/src/live/stream-transport.ts';
import { eventually } from '../support/agent.ts';
import { rootToken } from '../support/api.ts';

let agent: Agent;
const open = new Set<StreamSocket>();

beforeAll(async () => {
  agent = await createAgent({ http: { host: '127.0.0.1', port: 0 }, rootToken });
});

afterAll(async () => {
  for (const socket of open) socket.close();
  await agent.close('stop');
});

function connect(hello: { token?: string; namespace?: string } = { token: rootToken }) {
  const raw: WebSocket[] = [];
  const after = (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  };
  /** What the clock of the page shows, against that of this process. */
  const clock = { wrongMs: 0, aheadMs: 0 };
  const socket = new StreamSocket({
    open: () => {
      const made = new WebSocket(`${agent.address!.replace('http', 'ws')}/v1/ui/stream`);
      made.on('error', () => {});
      raw.push(made);
      return made as unknown as PageSocket;
    },
    hello: () => hello,
    nowMs: () => Date.now() + clock.wrongMs,
    onClock: (aheadMs) => {
      clock.aheadMs = aheadMs;
    },
    after,
    fraction: () => 0,
    onState: () => {},
  });
  open.add(socket);
  const newKey = () => crypto.randomUUID();
  const { address = '' } = agent;
  const transport = streamTransport({ socket, address, after, repeats: { newKey, pause } });
  return { socket, raw, hello, clock, client: createBrowserClient({ transport, address }) };
}

function listener() {
  const heard: unknown[] = [];
  const refusals: string[] = [];
  const made: WatchListener<unknown> = {
    value: (value) => heard.push(value),
    refused: ({ code }) => refusals.push(code),
  };
  return { heard, refusals, made };
}

test('the nouns of the client work over the connection', async () => {
  const { client } = connect();
  await client.namespaces.write('made', {});
  const { value, index } = await client.namespaces.list();
  expect(value.map(({ Name }) => Name)).toEqual(['default', 'made']);
  expect(index).toBeGreaterThan(0);
  await expect(client.jobs.read('nothing')).rejects.toMatchObject({ code: 'job-not-found' });
  await expect(client.jobs.read('nothing')).rejects.toBeInstanceOf(ApiError);
});

test('a watch hears the value now and after a change, also over a new connection', async () => {
  const { socket, raw, client } = connect();
  const { heard, made } = listener();
  socket.watch('/v1/namespaces', made);
  await eventually(() => expect(heard).toHaveLength(1));
  raw[0]!.terminate();
  await client.namespaces.write('later', {});
  await eventually(() => expect(JSON.stringify(heard.at(-1))).toContain('"later"'));
  expect(raw.length).toBeGreaterThan(1);
  expect(heard.at(-1)).toEqual((await client.namespaces.list()).value);
});

test('two listeners of a path share a watch, and the second hears the value at once', async () => {
  const { socket } = connect();
  const [first, second] = [listener(), listener()];
  const leave = socket.watch('/v1/namespaces', first.made);
  await eventually(() => expect(first.heard).toHaveLength(1));
  socket.watch('/v1/namespaces', second.made);
  await eventually(() => expect(second.heard).toHaveLength(1));
  leave();
  expect(second.heard[0]).toBe(first.heard[0]);
});

test('each connection measures how far the clock of the server is ahead', async () => {
  const { socket, raw, clock } = connect();
  const { made } = listener();
  let receivedMs = 0;
  socket.watch('/v1/namespaces', {
    ...made,
    value: (_, about) => {
      receivedMs = about.receivedMs;
    },
  });
  const hourMs = 3_600_000;
  for (const [number, wrongMs] of [0, -hourMs, 2 * hourMs].entries()) {
    clock.wrongMs = wrongMs;
    receivedMs = 0;
    if (number > 0) raw.at(-1)!.terminate();
    await eventually(() => expect([socket.state.kind, raw.length]).toEqual(['open', number + 1]));
    await eventually(() => expect(receivedMs).toBeGreaterThan(0));
    // A busy machine keeps a message for a while.
    const near = (ms: number) => Math.abs(ms) < hourMs / 60;
    expect(near(clock.aheadMs + wrongMs)).toBe(true);
    expect(near(receivedMs - Date.now())).toBe(true);
    expect(near(socket.state.lastHeardMs - Date.now())).toBe(true);
  }
});

test('a refused watch is told, and gives a value later', async () => {
  const { socket, client } = connect();
  const { heard, refusals, made } = listener();
  socket.watch('/v1/namespace/soon', made);
  await eventually(() => expect(refusals).toEqual(['namespace-not-found']));
  await client.namespaces.write('soon', {});
  await eventually(() => expect(heard).toMatchObject([{ Name: 'soon' }]));
});

test('a hidden page watches nothing, and sees the newest value when it is shown', async () => {
  const { socket, client } = connect();
  const { heard, made } = listener();
  socket.watch('/v1/namespaces', made);
  await eventually(() => expect(heard).toHaveLength(1));
  socket.pause();
  await client.namespaces.write('unseen', {});
  await client.namespaces.list();
  expect(heard).toHaveLength(1);
  socket.resume();
  await eventually(() => expect(JSON.stringify(heard.at(-1))).toContain('"unseen"'));
});

test('a token that is not known is told, and is not tried again', async () => {
  const { socket, raw, hello } = connect({ token: '99999999-9999-4999-8999-999999999999' });
  await eventually(() => expect(socket.state.kind).toBe('refused'));
  expect(socket.state.problem?.code).toBe('token-not-found');
  expect(raw).toHaveLength(1);
  hello.token = rootToken;
  socket.renew();
  await eventually(() => expect(socket.state.kind).toBe('open'));
});

test('a stream is read with the credit of its reader', async () => {
  const { client } = connect();
  const began = Promise.withResolvers<void>();
  const call = { onIndex: () => began.resolve() };
  const events = client.calls.stream('GET /v1/event/stream', {}, call, { topic: ['*'] });
  const first = events[Symbol.asyncIterator]().next();
  await began.promise;
  const { value } = await first;
  expect(new TextDecoder().decode(value)).toContain('{');
});

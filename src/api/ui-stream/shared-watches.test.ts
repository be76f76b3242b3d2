import { beforeEach, expect, test } from 'vitest';
import type { Authorizer } from '../../acl/authorizer.ts';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { limits } from '../../model/limits.ts';
import type { Footprint, State } from '../../state/types.ts';
import type { Request } from '../http.ts';
import type { Moment } from '../moment.ts';
import type { Pipeline } from '../pipeline.ts';
import { SharedWatches } from './shared-watches.ts';
import type { WatchedAnswer } from './watched-answer.ts';

/** A state with one row, and a pipeline that answers with its text. */
class Server {
  readonly world = new SimulatedWorld(1);
  readonly #watches = new Map<() => void, Footprint>();
  readonly #rights = new Map<string, object>();
  index = 1;
  /** The tokens whose reads the pipeline has answered. */
  readonly asked: string[] = [];
  /** Readings with the token end when this resolves. */
  held: { readonly token: string; readonly until: Promise<void> } | undefined;
  /** The moment at which the answer becomes another by itself. */
  moment: Moment = {};
  /** The answer names the caller. */
  isOfCaller = false;
  readonly shared = new SharedWatches({
    world: this.world,
    state: this.#state(),
    pipeline: this.#pipeline(),
    knowsLeader: () => this.knowsLeader,
  });
  knowsLeader = true;
  /** Reads are exact when this resolves. */
  exact: Promise<void> | undefined;

  /** Tokens with the same rules have the same rights. */
  give(token: string, rules: object): void {
    this.#rights.set(token, rules);
  }

  #state(): State {
    const watch = (footprint: Footprint, wake: () => void) => {
      this.#watches.set(wake, footprint);
      return { cancel: () => void this.#watches.delete(wake) };
    };
    return { read: () => ({ index: this.index }), watch } as unknown as State;
  }

  #pipeline(): Pipeline {
    const tokenOf = ({ headers }: Request) => String(headers['x-registry-token']);
    const authorizerOf = (request: Request) => {
      const accessor = tokenOf(request);
      const caller = { kind: 'token', accessor, management: false, namespace: '', partition: '' };
      return { caller, rules: this.#rights.get(accessor) } as unknown as Authorizer;
    };
    const handle = (request: Request) => {
      this.asked.push(tokenOf(request));
      const authorizer = authorizerOf(request);
      const { moment } = this;
      const ofAnswer = { index: this.index };
      request.follower!.onRead({ ofAnswer, ofCaller: [], authorizer, moment });
      if (this.isOfCaller) request.follower!.onCaller();
      const headers = { 'content-type': 'application/json' };
      const answer = { status: 200, headers, body: `${this.index}` };
      return this.held?.token === tokenOf(request) ? this.held.until.then(() => answer) : answer;
    };
    const never = new Promise<void>(() => {});
    const ready = () => (this.knowsLeader ? this.exact : never);
    const endpointAt = () => ({ kind: 'list' });
    return { handle, ready, endpointAt, authorizeUpgrade: authorizerOf } as unknown as Pipeline;
  }

  follow(token: string): Tab {
    const headers = { 'x-registry-token': token, host: 'a', origin: 'b' };
    const request = { method: 'GET', path: '/v1/jobs', query: '', headers, body: undefined };
    const tab = new Tab();
    tab.end = this.shared.follow(token, request, tab);
    return tab;
  }

  /** Changes the row, and lets the watches follow. Returns the tokens that were read with. */
  async change(): Promise<readonly string[]> {
    this.asked.length = 0;
    this.index += 1;
    for (const wake of [...this.#watches.keys()]) wake();
    await this.world.advance(1000);
    return [...this.asked];
  }
}

class Tab {
  newest: WatchedAnswer | undefined;
  end: () => void = () => {};

  offer(answer: WatchedAnswer): void {
    this.newest = answer;
  }
}

let server: Server;
const [reader, writer] = [{}, {}];

beforeEach(() => {
  server = new Server();
  server.give('a', reader);
  server.give('b', reader);
  server.give('c', writer);
});

test('tokens with the same rights share each reading after their own first, and others do not', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((token) => server.follow(token)) as [Tab, Tab, Tab];
  await server.world.advance(1000);
  expect(server.asked).toEqual(['a', 'b', 'c']);
  for (let change = 0; change < 3; change++) {
    expect(await server.change()).toEqual(['a', 'c']);
    expect(a.newest?.text).toBe(`${server.index}`);
    expect(b.newest).toBe(a.newest);
    expect(c.newest?.text).toBe(`${server.index}`);
    expect(c.newest).not.toBe(a.newest);
  }
});

test('a watch that was reading while the others got a newer answer gets that too', async () => {
  const first = server.follow('a');
  await server.change();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.held = { token: 'b', until: promise };
  const second = server.follow('b');
  await server.world.advance(1);
  expect(await server.change()).toEqual(['a']);
  server.held = undefined;
  resolve();
  await server.world.advance(1000);
  expect(second.newest).toBe(first.newest);
  expect(second.newest?.text).toBe(`${server.index}`);
});

test('when the first one leaves, another one reads', async () => {
  const tabs = ['a', 'b'].map((token) => server.follow(token)) as [Tab, Tab];
  await server.change();
  tabs[0].end();
  await server.world.advance(1000);
  expect(await server.change()).toEqual(['b']);
  expect(tabs[1].newest?.text).toBe(`${server.index}`);
  tabs[1].end();
  expect(await server.change()).toEqual([]);
});

test('only the next one reads when the first one leaves', async () => {
  for (const token of ['d', 'e']) server.give(token, reader);
  const tabs = ['a', 'b', 'd', 'e'].map((token) => server.follow(token));
  await server.change();
  server.asked.length = 0;
  tabs[0]!.end();
  await server.world.advance(1000);
  expect(server.asked).toEqual(['b']);
  expect(await server.change()).toEqual(['b']);
  for (const tab of tabs.slice(1)) expect(tab.newest?.text).toBe(`${server.index}`);
});

test('an answer of before a restore does not reach one that has read after it', async () => {
  const tabs = ['a', 'b'].map((token) => server.follow(token)) as [Tab, Tab];
  while (server.index < 5) await server.change();
  const { promise: until, resolve } = Promise.withResolvers<void>();
  server.held = { token: 'a', until };
  server.index = 2;
  server.shared.readAgain();
  await server.world.advance(1000);
  expect(tabs.map(({ newest }) => newest?.text)).toEqual(['5', '2']);
  resolve();
  await server.world.advance(1000);
  await server.change();
  expect(tabs.map(({ newest }) => newest?.text)).toEqual(['3', '3']);
});

test('a token with other rights gets no answer of those that it had them with', async () => {
  const tabs = ['a', 'b'].map((token) => server.follow(token)) as [Tab, Tab];
  await server.change();
  const before = tabs[1].newest;
  server.give('b', writer);
  expect(await server.change()).toEqual(['a', 'b']);
  expect(tabs[1].newest).not.toBe(before);
  expect(tabs[1].newest).not.toBe(tabs[0].newest);
  expect(await server.change()).toEqual(['a', 'b']);
  server.give('b', reader);
  await server.change();
  await server.change();
  expect(await server.change()).toEqual(['a']);
  expect(tabs[1].newest).toBe(tabs[0].newest);
});

test('answers that depend on who asks are not shared', async () => {
  server.isOfCaller = true;
  const tabs = ['a', 'b'].map((token) => server.follow(token)) as [Tab, Tab];
  await server.change();
  expect(await server.change()).toEqual(['a', 'b']);
  expect(tabs[1].newest).not.toBe(tabs[0].newest);
});

test('an answer that comes to depend on who asks is shared no longer', async () => {
  for (const token of ['a', 'b']) server.follow(token);
  await server.change();
  expect(await server.change()).toEqual(['a']);
  server.isOfCaller = true;
  await server.change();
  expect(await server.change()).toEqual(['a', 'b']);
});

test('an answer that depends on the time is read again at its moment, and at the latest after a bound', async () => {
  const { world, asked } = server;
  const { momentWaitMaxMs } = limits.uiStream;
  server.moment = { atMs: world.clock.nowMs() + 10_000 };
  for (const token of ['a', 'b']) server.follow(token);
  await world.advance(9_900);
  expect(asked).toEqual(['a', 'b']);
  server.moment = { atMs: world.clock.nowMs() + 10 * momentWaitMaxMs };
  await world.advance(1_000);
  expect(asked).toEqual(['a', 'b', 'a']);
  await world.advance(momentWaitMaxMs - 2_000);
  expect(asked).toEqual(['a', 'b', 'a']);
  await world.advance(4_000);
  expect(asked).toEqual(['a', 'b', 'a', 'a']);
});

test('every answer is read again when a leader is no longer known, is stale, and waits for no leader', async () => {
  const [tab, other] = ['a', 'c'].map((token) => server.follow(token)) as [Tab, Tab];
  await server.change();
  const stale = () => [tab, other].map(({ newest }) => newest?.about.stale);
  expect(stale()).toEqual([false, false]);
  for (const knowsLeader of [false, true]) {
    server.knowsLeader = knowsLeader;
    server.shared.readAgain();
    await server.world.advance(1000);
    expect(stale()).toEqual([!knowsLeader, !knowsLeader]);
  }
});

test('a watch that waits for the log when the leader is lost answers at once, and says that it is stale', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.exact = promise;
  const tab = server.follow('a');
  await server.world.advance(1000);
  expect(tab.newest).toBeUndefined();
  // Rights have changed, which is no reason to answer before the log.
  server.shared.readAgain();
  await server.world.advance(1000);
  expect(tab.newest).toBeUndefined();
  server.knowsLeader = false;
  server.shared.readAgain();
  await server.world.advance(1000);
  expect(tab.newest).toMatchObject({ text: '1', about: { stale: true } });
  // The end of the earlier wait does not end those of later readings.
  server.exact = undefined;
  server.knowsLeader = true;
  server.shared.readAgain();
  resolve();
  await server.world.advance(1000);
  expect(tab.newest).toMatchObject({ about: { stale: false } });
  expect(await server.change()).toEqual(['a']);
});

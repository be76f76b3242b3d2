/** Logins with keys fetched over the network, with a real client and server on simulated time. */
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Timers } from '../../src/base/ports.ts';
import { type SigningPair, sign, signingPair } from '../../src/server/login/login.test-helper.ts';
import { HttpOutbound } from '../../src/server/login/outbound-http.ts';
import { startApi, type TestApi } from './api.ts';
import { jwksPath, type KeyServer, startKeyServer } from './key-server.ts';

export interface KeyLogins {
  readonly api: TestApi;
  /** Publishes `first` at first. */
  readonly server: KeyServer;
  readonly first: SigningPair;
  readonly second: SigningPair;
  /** Its key is not published. */
  readonly stranger: SigningPair;
  /** Creates a method "ci" with these keys, and a rule that gives every login a service. */
  prepare(config?: object): Promise<void>;
  makeMethod(config: object): ReturnType<TestApi['call']>;
  publish(...pairs: readonly SigningPair[]): void;
  /** The claims of a valid token, with changes. */
  claims(more?: object): Record<string, unknown>;
  /** The simulated time in seconds, as in tokens. */
  now(): number;
  bearer(more?: object, pair?: SigningPair): Promise<string>;
  login(token: string | Promise<string>): ReturnType<TestApi['call']>;
  expectAccepted(token: string | Promise<string>): Promise<void>;
  expectRefused(token: string | Promise<string>, reason: RegExp, status?: number): Promise<void>;
}

interface Running {
  readonly pairs: Record<string, SigningPair>;
  readonly server: KeyServer;
  readonly api: TestApi;
}

/** Starts all of it anew for each test. The returned function gives the running parts. */
function useRunning(): () => Running {
  const pairs: Record<string, SigningPair> = {};
  let server: KeyServer;
  let outbound: HttpOutbound;
  let api: TestApi;

  beforeAll(async () => {
    const names = ['first', 'second', 'stranger'];
    const made = await Promise.all(names.map((name) => signingPair('RS256', name)));
    names.forEach((name, index) => {
      pairs[name] = made[index]!;
    });
  });
  beforeEach(async () => {
    // The client's timeout uses simulated time too.
    const timers: Timers = {
      after: (delayMs, run) => api.world.timers.after(delayMs, run),
      soon: (run) => api.world.timers.soon(run),
      unhurried: (run) => api.world.timers.unhurried(run),
    };
    outbound = new HttpOutbound(timers);
    [server, api] = await Promise.all([
      startKeyServer([pairs.first!.jwk]),
      startApi({ outbound: outbound.call }),
    ]);
  });
  afterEach(async () => {
    await outbound.close();
    await server.close();
  });
  return () => ({ pairs, server, api });
}

/** Sets all of it up anew for each test of the file that calls this. */
export function useKeyLogins(): KeyLogins {
  const running = useRunning();
  let address = 0;

  const logins: KeyLogins = {
    get api() {
      return running().api;
    },
    get server() {
      return running().server;
    },
    get first() {
      return running().pairs.first!;
    },
    get second() {
      return running().pairs.second!;
    },
    get stranger() {
      return running().pairs.stranger!;
    },
    makeMethod: (config) =>
      logins.api.call('PUT', '/v1/acl/auth-method', {
        body: {
          Name: 'ci',
          Type: 'jwt',
          MaxTokenTTL: '5m',
          Config: { BoundAudiences: ['roster'], ClaimMappings: { sub: 'name' }, ...config },
        },
      }),
    async prepare(config = { JWKSURL: logins.server.jwksUrl }) {
      const made = await logins.makeMethod(config);
      expect([made.status, made.status === 200 ? '' : made.text]).toEqual([200, '']);
      const body = { AuthMethod: 'ci', BindType: 'service', BindName: '${value.name}' };
      expect((await logins.api.call('PUT', '/v1/acl/binding-rule', { body })).status).toBe(200);
      logins.server.asked.length = 0;
    },
    publish: (...published) =>
      logins.server.answer(jwksPath, { body: { keys: published.map(({ jwk }) => jwk) } }),
    now: () => logins.api.world.clock.nowMs() / 1000,
    claims: (more = {}) => ({
      sub: 'ann',
      iss: logins.server.origin,
      aud: 'roster',
      iat: logins.now(),
      exp: logins.now() + 60,
      ...more,
    }),
    bearer: (more = {}, pair = logins.first) => sign(pair, logins.claims(more)),
    // Each login has its own address, so that failures do not block later ones.
    login: async (token) =>
      logins.api.call('POST', '/v1/acl/login', {
        token: null,
        address: `10.0.0.${address++ % 250}`,
        body: { AuthMethod: 'ci', BearerToken: await token },
      }),
    async expectAccepted(token) {
      const { status, json, text } = await logins.login(token);
      expect([status, status === 200 ? '' : text]).toEqual([200, '']);
      expect(json.ServiceIdentities).toMatchObject([{ ServiceName: 'ann' }]);
    },
    async expectRefused(token, reason, status = 403) {
      const answer = await logins.login(token);
      expect([answer.status, logins.api.whyRefused(answer)]).toEqual([
        status,
        expect.stringMatching(reason),
      ]);
    },
  };
  return logins;
}

import { expect } from 'vitest';
import { sign, signingPair } from '../../../src/server/login/login.test-helper.ts';
import { requestOf } from '../agent-requests.ts';
import { startKeyServer } from '../key-server.ts';
import { LocalCluster } from '../local-cluster.ts';
import { clientId, clientSecret, redirectUri, startOidcProvider } from '../oidc-provider.ts';
import { call } from '../server-cluster.ts';
import { type Things, withAgents } from './agents.ts';
import { leaderLost, withServers } from './connections.ts';

/** An auth method for logins in a browser, and a rule that gives every user something. */
const method = (issuer: string) => ({
  Name: 'sso',
  Type: 'oidc',
  MaxTokenTTL: '1h',
  Config: {
    OIDCDiscoveryURL: issuer,
    OIDCClientID: clientId,
    OIDCClientSecret: clientSecret,
    AllowedRedirectURIs: [redirectUri],
  },
});
const rule = { AuthMethod: 'sso', BindType: 'service', BindName: 'users' };

export const access: Things = {
  'sessions of OIDC logins': withServers(async (cluster) => {
    const provider = await startOidcProvider();
    try {
      const [begun] = cluster.followers;
      await call(begun!, 'PUT', '/v1/acl/auth-method', method(provider.issuer));
      await call(begun!, 'PUT', '/v1/acl/binding-rule', rule);
      const start = { AuthMethod: 'sso', RedirectURI: redirectUri, ClientNonce: 'n' };
      const { json } = await call(begun!, 'POST', '/v1/acl/oidc/auth-url', start);
      const back = await provider.browse(json.AuthURL, 'ann');
      await leaderLost(cluster);
      const [State, Code] = ['state', 'code'].map((name) => back.searchParams.get(name));
      const finish = { AuthMethod: 'sso', State, Code, ClientNonce: 'n' };
      const done = await call(cluster.servers[0]!, 'POST', '/v1/acl/oidc/callback', finish);
      expect([done.status, done.json.AuthMethod]).toEqual([200, 'sso']);
      const again = await call(cluster.servers[1]!, 'POST', '/v1/acl/oidc/callback', finish);
      expect([again.status, again.json.detail]).toEqual([
        403,
        expect.stringContaining('used before'),
      ]);
    } finally {
      await provider.close();
    }
  }),

  'attempts of logins': withAgents(async (cluster) => {
    const guess = async (remoteAddress: string) => {
      const body = { AuthMethod: 'nobody', BearerToken: 'a guess' };
      const request = { ...requestOf('POST', '/v1/acl/login', '', body), remoteAddress };
      return (await cluster.send(cluster.followers[0]!.agent, request)).status;
    };
    const guesses = async (remoteAddress: string) => {
      for (let count = 0; ; count++) if ((await guess(remoteAddress)) !== 403) return count;
    };
    const first = await guesses('192.0.2.1');
    expect(first).toBeGreaterThanOrEqual(20);
    await cluster.loseLeader();
    // A change of leader takes seconds of this time, in which a few attempts come back.
    expect(await guesses('192.0.2.1')).toBeLessThan(5);
    expect(await guesses('192.0.2.2')).toBeGreaterThanOrEqual(20);
  }),

  'keys of identity providers': withServers(async (cluster) => {
    const pair = await signingPair('RS256', 'first');
    const provider = await startKeyServer([pair.jwk]);
    try {
      const Config = { JWKSURL: provider.jwksUrl, ClaimMappings: { sub: 'name' } };
      const jwt = { Name: 'ci', Type: 'jwt', MaxTokenTTL: '5m', Config };
      await call(cluster.servers[0]!, 'PUT', '/v1/acl/auth-method', jwt);
      const users = { ...rule, AuthMethod: 'ci' };
      await call(cluster.servers[0]!, 'PUT', '/v1/acl/binding-rule', users);
      const login = async () => {
        const now = Date.now() / 1000;
        const claims = { sub: 'ann', iat: now, exp: now + 60, jti: String(provider.asked.length) };
        const body = { AuthMethod: 'ci', BearerToken: await sign(pair, claims) };
        const { status } = await call(cluster.followers[0]!, 'POST', '/v1/acl/login', body);
        return [status, provider.asked.length];
      };
      // The method was tried when it was made.
      expect(await login()).toEqual([200, 1]);
      expect(await login()).toEqual([200, 1]);
      await leaderLost(cluster);
      expect(await login()).toEqual([200, 2]);
    } finally {
      await provider.close();
    }
  }),

  'links to the web interface': withAgents(async (cluster) => {
    const [one, other] = cluster.followers;
    const make = async () => (await cluster.call(one!, 'POST', '/v1/ui/link', {})).json.Secret;
    const use = (Secret: string, at = other!) =>
      cluster.call(at, 'POST', '/v1/ui/sign-in', { Secret });
    expect((await use(await make())).status).toBe(200);
    const early = await make();
    await cluster.loseLeader();
    const { status, json } = await use(early, cluster.leader);
    expect([status, json.code]).toEqual([403, 'sign-in-link-refused']);
  }),

  keys: withAgents(async (cluster) => {
    const put = (Path: string, word: string) =>
      cluster.call(cluster.followers[0]!, 'PUT', `/v1/var/${Path}`, { Path, Items: { word } });
    await put('app', 'old');
    await cluster.call(cluster.leader, 'PUT', '/v1/operator/keyring/rotate');
    await put('new', 'new');
    await cluster.loseLeader();
    await put('newest', 'newest');
    for (const [path, word] of Object.entries({ app: 'old', new: 'new', newest: 'newest' })) {
      for (const server of cluster.servers) {
        const { json } = await cluster.call(server, 'GET', `/v1/var/${path}`);
        expect(json.Items).toEqual({ word });
      }
    }
  }),

  'refused requests, findings that need attention': withAgents(async (cluster) => {
    const [asked] = cluster.followers;
    const refused = async (path: string) =>
      (await cluster.send(asked!.agent, requestOf('GET', path, ''))).status;
    expect(await refused('/v1/nodes')).toBe(403);
    const seen = async (server: Parameters<typeof cluster.call>[0]) =>
      (await cluster.call(server, 'GET', '/v1/acl/denials')).json.length;
    expect(await seen(asked!)).toBe(1);
    expect(await seen(cluster.leader)).toBe(0);
    await cluster.loseLeader();
    expect(await seen(asked!)).toBe(1);
    const answers = await Promise.all(
      cluster.servers.map(async (server) => {
        const { status, json } = await cluster.call(server, 'GET', '/v1/attention');
        return [status, json.Total];
      }),
    );
    expect(new Set(answers.map(String)).size).toBe(1);
  }),

  'audit log, metrics': async () => {
    const cluster = new LocalCluster();
    const logs = new Map<unknown, string[]>();
    for (let count = 0; count < 3; count++) {
      const lines: string[] = [];
      const to = { write: (line: string) => void lines.push(line) };
      logs.set((await cluster.start({ audit: { to, events: 'writes' } })).agent, lines);
    }
    const servers = [...cluster.servers];
    try {
      const put = (Name: string) =>
        cluster.call(cluster.followers[0]!, 'PUT', `/v1/namespace/${Name}`, { Name });
      const where = (name: string) =>
        servers.flatMap(({ agent }, at) =>
          logs
            .get(agent)!
            .filter((line) => line.includes(`/v1/namespace/${name}`))
            .map(() => at),
        );
      const leader = () => servers.indexOf(cluster.leader);
      await put('first');
      const before = leader();
      expect(where('first')).toEqual([before]);
      await cluster.loseLeader();
      await put('second');
      expect([where('first'), where('second')]).toEqual([[before], [leader()]]);
    } finally {
      await cluster.close();
    }
  },

  'the configuration of the agent': async () => {
    const cluster = new LocalCluster();
    try {
      for (const name of ['first', 'second', 'third']) {
        await cluster.start({ reload: async () => ({ Changed: [name], NeedRestart: [] }) });
      }
      const changed = async () => {
        const answers = cluster.servers.map((server) =>
          cluster.call(server, 'PUT', '/v1/agent/reload'),
        );
        return (await Promise.all(answers)).map(({ json }) => json.Changed);
      };
      expect(await changed()).toEqual([['first'], ['second'], ['third']]);
      const left = cluster.servers.indexOf(cluster.leader);
      await cluster.kill(cluster.leader);
      expect(await changed()).toEqual([['first'], ['second'], ['third']].toSpliced(left, 1));
    } finally {
      await cluster.close();
    }
  },
};

import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { realWorld } from '../../src/base/ports-real.ts';
import { forged } from '../../src/server/login/login.test-helper.ts';
import { HttpOutbound } from '../../src/server/login/outbound-http.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { certificate, privateKey } from '../support/certificate.ts';

/** A simulated Kubernetes API with TokenReview and service accounts. */
interface Cluster {
  readonly host: string;
  readonly seen: { readonly path: string; readonly authorization: string | undefined }[];
  review: unknown;
  account: { status: number; body: unknown };
}

const reviewer = `${forged({ alg: 'RS256' }, { sub: 'reviewer' })}c2ln`;
const bearer = `${forged({ alg: 'RS256' }, { sub: 'pod' })}c2ln`;
const outbound = new HttpOutbound(realWorld.timers);
let server: Server;
let cluster: Cluster;
let api: TestApi;

beforeAll(async () => {
  server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    const path = request.url ?? '';
    cluster.seen.push({ path, authorization: request.headers.authorization });
    request.resume().on('end', () => {
      const isReview = path.endsWith('/tokenreviews');
      const { status, body } = isReview ? { status: 201, body: cluster.review } : cluster.account;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await outbound.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const user = (username: string, uid = 'u1') => ({
  status: { authenticated: true, user: { username, uid } },
});
const account = (metadata: object = {}) => ({
  status: 200,
  body: { metadata: { uid: 'u1', ...metadata } },
});

beforeEach(async () => {
  const host = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const review = user('system:serviceaccount:shop:web');
  cluster = { host, seen: [], review, account: account() };
  api = await startApi({ outbound: outbound.call });
});

async function login(config: object = {}, token = bearer) {
  const Config = {
    Host: cluster.host,
    CACert: certificate,
    ServiceAccountJWT: reviewer,
    ...config,
  };
  const method = await api.call('PUT', '/v1/acl/auth-method', {
    body: { Name: 'k8s', Type: 'kubernetes', Config },
  });
  expect(method.status).toBe(200);
  const rule = {
    AuthMethod: 'k8s',
    BindType: 'service',
    BindName: '${serviceaccount.name}',
    Selector: 'serviceaccount.namespace == shop and serviceaccount.uid == u1',
  };
  expect((await api.call('PUT', '/v1/acl/binding-rule', { body: rule })).status).toBe(200);
  const body = { AuthMethod: 'k8s', BearerToken: token };
  return api.call('POST', '/v1/acl/login', { token: null, body });
}

describe('a login of a service account', () => {
  test("makes a token after a TokenReview with the method's own credential", async () => {
    const answer = await login();
    expect(answer.json).toMatchObject({ ServiceIdentities: [{ ServiceName: 'web' }] });
    expect(cluster.seen).toEqual([
      { path: '/apis/authentication.k8s.io/v1/tokenreviews', authorization: `Bearer ${reviewer}` },
      { path: '/api/v1/namespaces/shop/serviceaccounts/web', authorization: `Bearer ${reviewer}` },
    ]);
  });

  test('uses the name of the annotation', async () => {
    cluster.account = account({ annotations: { 'roster/service-name': 'front' } });
    expect((await login()).json).toMatchObject({ ServiceIdentities: [{ ServiceName: 'front' }] });
  });

  test.each([
    ['with a prefix', { NamespacePrefix: 'k8s-' }, 'k8s-shop'],
    [
      'with an override',
      { NamespacePrefix: 'k8s-', NamespaceOverrides: { shop: 'other' } },
      'other',
    ],
  ])('maps namespaces %s', async (_, config, namespace) => {
    await api.call('PUT', `/v1/namespace/${namespace}`, { body: {} });
    expect((await login({ MapNamespaces: true, ...config })).json.Namespace).toBe(namespace);
  });

  test.each<[string, unknown, Cluster['account'] | undefined, number, RegExp]>([
    [
      'a token nobody knows',
      { status: { authenticated: false } },
      undefined,
      403,
      /does not know it/,
    ],
    [
      'an error of the review',
      { status: { error: 'expired' } },
      undefined,
      403,
      /the cluster says: expired/,
    ],
    ['a person', user('ann'), undefined, 403, /not of a service account/],
    [
      'a name with a path in it',
      user('system:serviceaccount:a/../b:c'),
      undefined,
      403,
      /not of a service account/,
    ],
    ['a service account that is gone', undefined, { status: 404, body: {} }, 403, /is gone/],
    ['a service account that was replaced', undefined, account({ uid: 'u2' }), 403, /replaced/],
    ['a cluster that answers nonsense', 'hello', undefined, 503, /JSON object/],
    [
      'a review without a user',
      { status: { authenticated: true } },
      undefined,
      503,
      /without a user/,
    ],
    ['a cluster that refuses the method itself', undefined, { status: 403, body: {} }, 503, /403/],
    ['an answer without end', 'x'.repeat(1_100_000), undefined, 503, /more than 1048576 bytes/],
  ])('refuses %s', async (_, review, found, status, reason) => {
    if (review !== undefined) cluster.review = review;
    if (found !== undefined) cluster.account = found;
    const answer = await login();
    expect(answer.status).toBe(status);
    expect(api.whyRefused(answer)).toMatch(reason);
    expect(answer.text).not.toContain(reviewer);
  });

  test('refuses a malformed JWT without a TokenReview', async () => {
    expect(api.whyRefused(await login({}, 'garbage'))).toContain('no JWT');
    expect(cluster.seen).toEqual([]);
  });

  test('fails if the Kubernetes API is unreachable or has another certificate', async () => {
    const away = await login({ Host: 'https://127.0.0.1:1' });
    expect(away.status).toBe(503);
    expect(away.json.detail).toContain('cannot be reached');
  });
});

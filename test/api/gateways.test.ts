/** Gateways, routes and certificates over HTTP. Source: docs/behaviour/gateways.md. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  exampleCertificate,
  examplePrivateKey,
} from '../../src/model/config-entry/certificate-example.ts';
import {
  leafCertificate,
  leafKey,
  oddlyNamedCertificate,
} from '../../src/model/config-entry/certificates.test-helper.ts';
import { kinds } from '../../src/model/config-entry/kinds.ts';
import { configEntries } from '../../src/state/tables.ts';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const put = (body: object, token?: string) =>
  api.call('PUT', '/v1/config', { body, ...(token && { token }) });
const get = (path: string, token?: string) =>
  api.call('GET', `/v1/config/${path}`, { ...(token && { token }) });
const remove = (path: string) => api.call('DELETE', `/v1/config/${path}`);
const write = async (...bodies: object[]) => {
  for (const body of bodies) expect((await put(body)).json).toBe(true);
};

const http = (Name: string) => ({ Kind: 'service-defaults', Name, Protocol: 'http' });
const certificate = {
  Kind: 'inline-certificate',
  Name: 'shop',
  Certificate: exampleCertificate,
  PrivateKey: examplePrivateKey,
};
const gateway = {
  Kind: 'api-gateway',
  Name: 'public',
  Listeners: [
    { Name: 'web', Port: 8443, Protocol: 'http', TLS: { Certificates: [{ Name: 'shop' }] } },
    { Name: 'queue', Port: 5672, Protocol: 'tcp' },
  ],
};
const route = {
  Kind: 'http-route',
  Name: 'shop',
  Parents: [{ Name: 'public' }],
  Rules: [{ Services: [{ Name: 'shop' }] }],
};
const reasons = (entry: { Status: { Conditions: { Reason: string }[] } }) =>
  entry.Status.Conditions.map(({ Reason }) => Reason);
const bound = async () => (await get('bound-api-gateway/public')).json;

describe('an API gateway', () => {
  test('works with its routes, its certificate and the protocols of its services', async () => {
    await write(gateway, route);
    const alone = (await get('api-gateway/public')).json;
    expect(reasons(alone)).toEqual([
      'InvalidCertificates',
      'NoConflict',
      'InvalidCertificateRef',
      'NoConflict',
      'ResolvedRefs',
    ]);
    expect(reasons((await get('http-route/shop')).json)).toEqual([
      'InvalidDiscoveryChain',
      'FailedToBind',
    ]);
    await api.world.advance(1000);
    await write(certificate, http('shop'));
    const whole = (await get('api-gateway/public')).json;
    expect(reasons(whole)).toEqual([
      'Accepted',
      'NoConflict',
      'ResolvedRefs',
      'NoConflict',
      'ResolvedRefs',
    ]);
    const since = whole.Status.Conditions.map(
      (one: Record<string, string>) => one.LastTransitionTime,
    );
    const [begin, then] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];
    expect(since).toEqual([then, begin, then, begin, begin]);
    const Reference = { SectionName: '', Namespace: 'default', Partition: 'default' };
    expect(await bound()).toMatchObject({
      Kind: 'bound-api-gateway',
      Listeners: [
        {
          Name: 'web',
          Routes: [{ Kind: 'http-route', Name: 'shop', ...Reference }],
          Certificates: [{ Kind: 'inline-certificate', Name: 'shop', ...Reference }],
        },
        { Name: 'queue', Routes: [], Certificates: [] },
      ],
      Services: [{ Name: 'shop', Routes: [{ Name: 'shop' }] }],
    });

    expect((await remove('http-route/shop')).json).toBe(true);
    expect((await bound()).Listeners[0].Routes).toEqual([]);
    await write(route);
    expect((await bound()).Listeners[0].Routes).toHaveLength(1);
    const refused = await remove('api-gateway/public');
    expect([refused.status, refused.json.code]).toEqual([409, 'config-conflict']);
    expect((await bound()).Listeners[0].Routes).toHaveLength(1);
    await write({ ...route, Parents: [{ Name: 'other' }] });
    expect(reasons((await get('http-route/shop')).json)).toEqual(['Accepted', 'GatewayNotFound']);
    expect((await remove('api-gateway/public')).json).toBe(true);
    expect((await get('bound-api-gateway/public')).status).toBe(404);
  });

  test('wakes blocking queries for its bound entries only', async () => {
    await write(http('shop'), certificate, gateway);
    const { ModifyIndex } = await bound();
    const waiting = get(`bound-api-gateway/public?index=${ModifyIndex}&wait=10s`);
    await write({ ...route, Parents: [] });
    expect((await bound()).ModifyIndex).toBe(ModifyIndex);
    await write(route);
    const { json, headers } = await waiting;
    expect(json.Listeners[0].Routes[0].Name).toBe('shop');
    expect(headers['x-registry-index']).toBe(String(json.ModifyIndex));
  });

  test('sent back as it was read changes nothing, and its status cannot be written', async () => {
    await write(http('shop'), certificate, gateway, route);
    for (const path of ['api-gateway/public', 'http-route/shop']) {
      const { json } = await get(path);
      expect((await put(json)).json).toBe(true);
      expect((await put({ ...json, Status: { Conditions: [] } })).json).toBe(true);
      expect((await get(path)).json).toEqual(json);
    }
  });

  test('is bound by the server only', async () => {
    await write(gateway);
    const refused = [
      await put({ Kind: 'bound-api-gateway', Name: 'public' }),
      await put(await bound()),
      await remove('bound-api-gateway/public'),
    ];
    for (const { status, json } of refused) {
      expect([status, json.code]).toEqual([403, 'config-entry-derived']);
    }
  });

  test('accepts routes of other namespaces that name it', async () => {
    await api.call('PUT', '/v1/namespace/team', { body: {} });
    await write(http('shop'), { ...gateway, Listeners: [gateway.Listeners[1]] });
    const queue = {
      Kind: 'tcp-route',
      Name: 'queue',
      Parents: [{ Name: 'public', Namespace: 'default' }],
      Services: [{ Name: 'queue' }],
    };
    expect((await api.call('PUT', '/v1/config?ns=team', { body: queue })).json).toBe(true);
    expect(await bound()).toMatchObject({
      Listeners: [{ Name: 'queue', Routes: [{ Name: 'queue', Namespace: 'team' }] }],
      Services: [{ Name: 'queue', Namespace: 'team' }],
    });
  });
});

describe('an inline certificate', () => {
  test('shows its attributes, and its key to callers with write permission', async () => {
    await write(certificate);
    const { json } = await get('inline-certificate/shop');
    expect(json).toMatchObject({
      PrivateKey: examplePrivateKey,
      Details: {
        Hosts: ['shop.example.com', '*.shop.example.com'],
        NotAfter: '2126-10-29T09:54:38Z',
      },
    });
    const reader = await aclOf(api).holder('mesh = "read"');
    expect((await get('inline-certificate/shop', reader)).json.PrivateKey).toBe('<hidden>');
    expect((await get('inline-certificate', reader)).text).not.toContain('BEGIN PRIVATE KEY');
    const rows = [...api.state.read().table(configEntries).scan({ prefix: [] })];
    expect(JSON.stringify(rows)).not.toContain('BEGIN PRIVATE KEY');
  });

  test('shows the attributes of a renewed certificate', async () => {
    await write(certificate);
    await write({ ...certificate, Certificate: leafCertificate, PrivateKey: leafKey });
    const { json } = await get('inline-certificate/shop');
    expect(json.Details.Hosts).toEqual(['leaf.example.com', '10.0.0.1']);
    expect((await put(json)).json).toBe(true);
    expect((await get('inline-certificate/shop')).json).toEqual(json);
  });

  test('is refused with all faults, and without its key', async () => {
    const wrong = { ...certificate, Certificate: `${exampleCertificate}${oddlyNamedCertificate}` };
    const { status, json, text } = await put({ ...wrong, PrivateKey: leafKey });
    expect(status).toBe(400);
    expect(json.errors).toEqual([
      {
        pointer: '/Certificate',
        message:
          'Certificate is out of order: certificate 1 of 2 was not issued by the one after it; a chain begins with the certificate itself, and each is followed by its issuer',
      },
      {
        pointer: '/PrivateKey',
        message: 'PrivateKey does not belong to the certificate: it is the key of another one',
      },
    ]);
    expect(text).not.toContain(leafKey.slice(40, 60));
  });
});

test.each(
  kinds.filter(({ kind, isDerived }) => /gateway|route$|certificate/.test(kind) && !isDerived),
)('the example of $kind applies, and is read as it was written', async ({ kind, ...example }) => {
  await write(...(example.exampleNeeds ?? []), example.example);
  const path = `${kind}/${example.example.Name}`;
  const { json } = await get(path);
  await write(json);
  expect((await get(path)).json).toEqual(json);
  for (const { Reason } of json.Status?.Conditions ?? []) {
    expect(['Accepted', 'Bound', 'NoConflict', 'ResolvedRefs']).toContain(Reason);
  }
});

describe('ingress and terminating gateways', () => {
  const ingress = {
    Kind: 'ingress-gateway',
    Name: 'edge',
    Listeners: [{ Port: 80, Protocol: 'http', Services: [{ Name: 'shop' }, { Name: '*' }] }],
  };
  const terminating = { Kind: 'terminating-gateway', Name: 'edge' };

  test('have unique names', async () => {
    await write(http('shop'), ingress);
    const refused = await put(terminating);
    expect([refused.status, refused.json.code]).toEqual([409, 'config-conflict']);
    expect(refused.json.detail).toContain(
      'cannot have the terminating-gateway "edge": an ingress-gateway entry with that name already exists',
    );
    expect((await get('terminating-gateway/edge')).status).toBe(404);
    await remove('ingress-gateway/edge');
    await write(terminating);
    expect((await put(ingress)).status).toBe(409);
  });

  test('use the protocols of their services', async () => {
    const says = (protocol: string) =>
      `service "shop" has protocol "${protocol}", which does not match defined listener protocol "http"`;
    expect((await put(ingress)).json.detail).toContain(says('tcp'));
    await write(http('shop'), ingress);
    expect((await put({ ...http('shop'), Protocol: 'grpc' })).json.detail).toContain(says('grpc'));
    expect((await remove('service-defaults/shop')).json.detail).toContain(says('tcp'));
    const proxies = { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } };
    await write(proxies);
    expect((await remove('service-defaults/shop')).json).toBe(true);
    expect((await remove('proxy-defaults/global')).json.detail).toContain(says('tcp'));
    await remove('ingress-gateway/edge');
    expect((await remove('proxy-defaults/global')).json).toBe(true);
  });
});

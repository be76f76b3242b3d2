import { describe, expect, test } from 'vitest';
import type { ApiGateway } from './api-gateway.ts';
import type { BoundApiGateway } from './bound-api-gateway.ts';
import type { Condition } from './gateway-status.ts';
import {
  Entries,
  gateway,
  httpRoute,
  inlineCertificate,
  speaks,
  tcpRoute,
} from './gateways.test-helper.ts';
import type { InlineCertificate } from './inline-certificate.ts';
import type { Route } from './route-bindings.ts';

const now = '2026-01-01T00:00:00Z';
const later = '2026-01-02T00:00:00Z';

function entriesWith(...bodies: readonly Readonly<Record<string, unknown>>[]): Entries {
  const entries = new Entries();
  for (const body of [speaks('web', 'http'), ...bodies]) entries.apply(body, now);
  return entries;
}

const told = (conditions: readonly Condition[] | undefined): string[] =>
  (conditions ?? []).map(({ Type, Status, Reason, Resource, Message }) => {
    const of = Resource === null ? '' : ` ${Resource.Name}/${Resource.SectionName}`;
    return `${Type} ${Status} ${Reason}${of}: ${Message}`;
  });
const ofRoute = (entries: Entries, kind: Route['Kind'], name: string) =>
  told(entries.get<Route>(kind, name)?.Status?.Conditions);
const ofGateway = (entries: Entries, name = 'gate') =>
  told(entries.get<ApiGateway>('api-gateway', name)?.Status?.Conditions);
const boundTo = (entries: Entries, name = 'gate') =>
  entries
    .get<BoundApiGateway>('bound-api-gateway', name)
    ?.Listeners.map((one) => `${one.Name}: ${one.Routes.map((route) => route.Name).join()}`);

const accepted = 'Accepted True Accepted: The route is accepted.';

describe('the findings about a route', () => {
  const rows: readonly (readonly [string, readonly object[], object, ...string[]])[] = [
    ['without parents', [], httpRoute('r', []), accepted],
    [
      'without services',
      [gateway('gate', {})],
      httpRoute('r', [{ Name: 'gate' }], { Rules: [] }),
      'Accepted False NoUpstreamServicesTargeted: The route names no service.',
      'Bound False FailedToBind gate/: The route is not accepted. The route names no service.',
    ],
    [
      'to a service of another protocol',
      [],
      httpRoute('r', [], { Rules: [{ Services: [{ Name: 'web' }, { Name: 'queue' }] }] }),
      'Accepted False InvalidDiscoveryChain: The service "queue" speaks tcp, and an http-route leads to http, http2 or grpc.',
    ],
    [
      'to a service that speaks http by the defaults of all services',
      [{ Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'grpc' } }],
      httpRoute('r', [], { Rules: [{ Services: [{ Name: 'queue' }] }] }),
      accepted,
    ],
    [
      'to a gateway that does not exist',
      [],
      httpRoute('r', [{ Name: 'gate' }]),
      accepted,
      'Bound False GatewayNotFound gate/: There is no api-gateway "gate".',
    ],
    [
      'to a listener that does not exist',
      [gateway('gate', {})],
      httpRoute('r', [{ Name: 'gate', SectionName: 'other' }]),
      accepted,
      'Bound False FailedToBind gate/other: The gateway has no listener "other".',
    ],
    [
      'to listeners of another protocol',
      [gateway('gate', { Protocol: 'tcp' })],
      httpRoute('r', [{ Name: 'gate' }]),
      accepted,
      'Bound False FailedToBind gate/: The listener "l0" speaks tcp, and the route http.',
    ],
    [
      'to listeners for other hosts',
      [gateway('gate', { Hostname: 'a.b' }, { Hostname: '*.c.d' })],
      httpRoute('r', [{ Name: 'gate' }], { Hostnames: ['x.b', 'c.d'] }),
      accepted,
      'Bound False FailedToBind gate/: The listener "l0" accepts a.b, and none of the hosts of the route. The listener "l1" accepts *.c.d, and none of the hosts of the route.',
    ],
    [
      'to one listener for its host',
      [gateway('gate', { Hostname: 'a.b' }, { Hostname: '*.c.d' })],
      httpRoute('r', [{ Name: 'gate' }], { Hostnames: ['x.y.c.d'] }),
      accepted,
      'Bound True Bound gate/: The route is bound to the listener "l1".',
    ],
    [
      'to all listeners, and to a listener by name',
      [gateway('gate', {}, {}), gateway('other', {}, {})],
      httpRoute('r', [{ Name: 'gate' }, { Name: 'other', SectionName: 'l1' }]),
      accepted,
      'Bound True Bound gate/: The route is bound to the listeners "l0", "l1".',
      'Bound True Bound other/l1: The route is bound to the listener "l1".',
    ],
  ];
  test.each(rows.map(([what, before, route, ...said]) => ({ what, before, route, said })))(
    '$what',
    ({ before, route, said }) => {
      const entries = entriesWith(...(before as never[]), route as never);
      expect(ofRoute(entries, 'http-route', 'r')).toEqual(said);
    },
  );

  test('of connections: they can lead to services of any protocol', () => {
    const entries = entriesWith(
      gateway('gate', { Protocol: 'tcp' }),
      tcpRoute('r', [{ Name: 'gate' }], { Services: [{ Name: 'web' }] }),
      tcpRoute('none', [], { Services: [] }),
    );
    expect(ofRoute(entries, 'tcp-route', 'r')[1]).toContain('Bound True');
    expect(ofRoute(entries, 'tcp-route', 'none')[0]).toContain('NoUpstreamServicesTargeted');
  });
});

describe('the findings about a gateway', () => {
  const fine = (listener: string) => [
    `Conflicted False NoConflict gate/${listener}: No two routes want the same.`,
    `ResolvedRefs True ResolvedRefs gate/${listener}: All that it names is there.`,
  ];

  test('without a fault', () => {
    const entries = entriesWith(gateway('gate', {}, {}));
    const said = 'Accepted True Accepted: The gateway is accepted.';
    expect(ofGateway(entries)).toEqual([said, ...fine('l0'), ...fine('l1')]);
  });

  test('whose certificates are deleted and written again', () => {
    const TLS = { Certificates: [{ Name: 'c' }, { Kind: 'file-system-certificate', Name: 'f' }] };
    const entries = entriesWith(gateway('gate', { TLS }, {}));
    const both = 'There is no inline-certificate "c" and no file-system-certificate "f".';
    expect(ofGateway(entries)).toEqual([
      `Accepted False InvalidCertificates: ${both}`,
      fine('l0')[0],
      `ResolvedRefs False InvalidCertificateRef gate/l0: ${both}`,
      ...fine('l1'),
    ]);
    entries.apply(inlineCertificate('c'), now);
    expect(ofGateway(entries)[0]).toContain('There is no file-system-certificate "f".');
    entries.apply(
      { Kind: 'file-system-certificate', Name: 'f', Certificate: '/c', PrivateKey: '/k' },
      now,
    );
    const ends = 'Of its certificates "c" ends first, at 2126-10-29T09:54:38Z.';
    expect(ofGateway(entries)[0]).toBe(`Accepted True Accepted: The gateway is accepted. ${ends}`);
    const bound = entries.get<BoundApiGateway>('bound-api-gateway', 'gate');
    expect(bound?.Listeners[0]?.Certificates.map(({ Name }) => Name)).toEqual(['c', 'f']);
    expect(entries.get<InlineCertificate>('inline-certificate', 'c')?.Details?.Hosts).toEqual([
      'shop.example.com',
      '*.shop.example.com',
    ]);
    const Other = { Certificates: [{ Name: 'd' }] };
    entries.apply(gateway('gate', { TLS: Other }, {}), now);
    expect(ofGateway(entries)[0]).toContain('There is no inline-certificate "d".');
  });

  test('with two routes for the same connections', () => {
    const entries = entriesWith(
      gateway('gate', { Protocol: 'tcp' }),
      tcpRoute('a', [{ Name: 'gate' }]),
    );
    expect(ofGateway(entries)[1]).toBe(fine('l0')[0]);
    entries.apply(tcpRoute('b', [{ Name: 'gate' }]), now);
    expect(ofGateway(entries)[1]).toBe(
      'Conflicted True RouteConflict gate/l0: Nothing tells the connections of 2 routes apart: "a", "b".',
    );
    entries.remove('tcp-route', 'a', now);
    expect(ofGateway(entries)[1]).toBe(fine('l0')[0]);
  });
});

describe('the bound routes', () => {
  test('follow routes, gateways and the protocols of services', () => {
    const entries = entriesWith(
      gateway('gate', {}, { Protocol: 'tcp' }),
      httpRoute('b', [{ Name: 'gate' }]),
      httpRoute('a', [{ Name: 'gate' }]),
      tcpRoute('t', [{ Name: 'gate' }]),
    );
    expect(boundTo(entries)).toEqual(['l0: a,b', 'l1: t']);
    const bound = entries.get<BoundApiGateway>('bound-api-gateway', 'gate');
    expect(bound?.Services.map(({ Name, Routes }) => `${Name}: ${Routes.length}`)).toEqual([
      'database: 1',
      'web: 2',
    ]);
    entries.apply(speaks('web', 'tcp'), now);
    expect(boundTo(entries)).toEqual(['l0: ', 'l1: t']);
    entries.apply(speaks('web', 'http2'), now);
    entries.apply(httpRoute('a', []), now);
    expect(boundTo(entries)).toEqual(['l0: b', 'l1: t']);
    entries.remove('http-route', 'b', now);
    expect(boundTo(entries)).toEqual(['l0: ', 'l1: t']);
    entries.apply(gateway('gate', { Protocol: 'tcp' }), now);
    expect(boundTo(entries)).toEqual(['l0: t']);
    entries.apply(tcpRoute('t', [{ Name: 'other' }]), now);
    expect(ofRoute(entries, 'tcp-route', 't')[1]).toContain('GatewayNotFound');
    entries.remove('api-gateway', 'gate', now);
    expect(boundTo(entries)).toBeUndefined();
    entries.apply(gateway('other', { Protocol: 'tcp' }), now);
    expect(boundTo(entries, 'other')).toEqual(['l0: t']);
  });

  test('a write makes the server write the affected entries and no others', () => {
    const entries = entriesWith(gateway('gate', {}), gateway('other', {}));
    for (let each = 0; each < 20; each++) {
      entries.apply(httpRoute(`r${each}`, [{ Name: each % 2 ? 'gate' : 'other' }]), now);
      // The bound gateway, and the route.
      expect(entries.consequences).toBe(2);
    }
  });

  test('only the listeners of a gateway affect its routes', () => {
    const routes = Array.from({ length: 20 }, (_, each) =>
      httpRoute(`r${each}`, [{ Name: 'gate' }]),
    );
    const entries = entriesWith(inlineCertificate('c'), gateway('gate', {}), ...routes);
    const TLS = { Certificates: [{ Name: 'c' }] };
    const steps: [object, number][] = [
      [{ Meta: { a: 'b' } }, 1],
      [{ Listeners: [{ ...gateway('gate', {}).Listeners[0], Port: 9000 }] }, 1],
      // The status now tells when the certificate ends.
      [{ Listeners: gateway('gate', { TLS }).Listeners }, 2],
      [{ Listeners: gateway('gate', { TLS, Hostname: 'a.b' }).Listeners }, 1],
      [{ Listeners: gateway('gate', { TLS, Name: 'l1' }).Listeners }, 22],
    ];
    for (const [fields, affected] of steps) {
      entries.apply({ ...gateway('gate', {}), ...fields }, now);
      expect([fields, entries.consequences]).toEqual([fields, affected]);
    }
  });

  test('a write that leaves the protocols of services as they are affects no route', () => {
    const entries = entriesWith(gateway('gate', {}), httpRoute('r', [{ Name: 'gate' }]));
    const proxies = (fields: object) => ({
      Kind: 'proxy-defaults',
      Name: 'global',
      ...fields,
    });
    const steps: [object, number][] = [
      [proxies({ Config: { protocol: 'tcp' } }), 0],
      // The bound gateway is computed again and stays as it was: the service has its own protocol.
      [proxies({ Config: { protocol: 'http' } }), 1],
      [proxies({ Config: { protocol: 'HTTP' }, Meta: { a: 'b' } }), 0],
      [{ ...speaks('web', 'http'), Meta: { a: 'b' } }, 0],
      // Requests can be told apart in each of these protocols.
      [speaks('web', 'grpc'), 0],
      [proxies({ Config: { protocol: 'http2' } }), 0],
      [speaks('web', ''), 1],
      // And the route is no longer accepted.
      [speaks('web', 'tcp'), 2],
    ];
    for (const [body, affected] of steps) {
      entries.apply(body as never, now);
      expect([body, entries.consequences]).toEqual([body, affected]);
    }
    entries.remove('proxy-defaults', 'global', now);
    expect(entries.consequences).toBe(1);
    entries.remove('service-defaults', 'web', now);
    expect(entries.consequences).toBe(1);
  });
});

describe('the time of a condition', () => {
  const times = (entries: Entries, name = 'r') =>
    entries
      .get<Route>('http-route', name)
      ?.Status?.Conditions.map(({ Type, LastTransitionTime }) => `${Type} ${LastTransitionTime}`);

  test('is kept while the condition stays, and a caller cannot set it', () => {
    const entries = entriesWith(gateway('gate', {}), httpRoute('r', [{ Name: 'gate' }]));
    expect(times(entries)).toEqual([`Accepted ${now}`, `Bound ${now}`]);
    const Status = { Conditions: [{ Type: 'Bound', LastTransitionTime: 'never' }] };
    entries.apply(httpRoute('r', [{ Name: 'gate' }], { Status, Meta: { a: 'b' } }), later);
    expect(times(entries)).toEqual([`Accepted ${now}`, `Bound ${now}`]);
    entries.apply(gateway('gate', { Protocol: 'tcp' }), later);
    expect(times(entries)).toEqual([`Accepted ${now}`, `Bound ${later}`]);
  });
});

describe('an entry in use is not deleted', () => {
  const TLS = { Certificates: [{ Name: 'c' }, { Kind: 'file-system-certificate', Name: 'f' }] };
  const onDisk = {
    Kind: 'file-system-certificate',
    Name: 'f',
    Certificate: '/c',
    PrivateKey: '/k',
  };
  const entries = entriesWith(
    inlineCertificate('c'),
    onDisk,
    gateway('gate', { TLS }, {}, { TLS }),
    gateway('other', { TLS: { Certificates: [{ Name: 'c' }] } }),
    httpRoute('b', [{ Name: 'gate' }, { Name: 'gate', SectionName: 'l1' }]),
    httpRoute('a', [{ Name: 'other' }], {
      Rules: [{ Services: [{ Name: 'web' }, { Name: 'api' }] }],
    }),
    tcpRoute('t', [{ Name: 'gate' }]),
  );
  entries.apply(speaks('api', 'grpc'), now);
  const asItIs = JSON.stringify([...entries.all]);
  const withoutWeb = (route: string) =>
    `the http-route "${route}" leads to the service "web", which would speak tcp, and an http-route leads to http, http2 or grpc`;

  test.each<[Parameters<Entries['remove']>[0], string, readonly string[]]>([
    [
      'inline-certificate',
      'c',
      [
        'the api-gateway "gate" names it for its listeners "l0", "l2"',
        'the api-gateway "other" names it for its listener "l0"',
      ],
    ],
    [
      'file-system-certificate',
      'f',
      ['the api-gateway "gate" names it for its listeners "l0", "l2"'],
    ],
    [
      'api-gateway',
      'gate',
      ['the http-route "b" names it as a parent', 'the tcp-route "t" names it as a parent'],
    ],
    ['api-gateway', 'other', ['the http-route "a" names it as a parent']],
    ['service-defaults', 'web', [withoutWeb('b'), withoutWeb('a')]],
  ])('%s %s', (kind, name, reasons) => {
    expect(entries.remove(kind, name, later)).toEqual(reasons);
    expect(JSON.stringify([...entries.all])).toBe(asItIs);
  });

  test('an entry can be deleted if its users are not accepted anyway, and so can routes', () => {
    const some = entriesWith(
      { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } },
      speaks('queue', 'tcp'),
      httpRoute('a', [], { Rules: [{ Services: [{ Name: 'web' }, { Name: 'queue' }] }] }),
      httpRoute('b', [], { Rules: [{ Services: [{ Name: 'api' }, { Name: 'b' }] }] }),
    );
    // The defaults of all proxies give it the same protocol.
    expect(some.remove('service-defaults', 'web', later)).toEqual([]);
    expect(some.remove('proxy-defaults', 'global', later)).toEqual(
      ['api', 'b'].map(
        (service) =>
          `the http-route "b" leads to the service "${service}", which would speak tcp, and an http-route leads to http, http2 or grpc`,
      ),
    );
    expect(some.remove('http-route', 'b', later)).toEqual([]);
    expect(some.remove('proxy-defaults', 'global', later)).toEqual([]);
  });

  test('a user in another namespace is named with it', () => {
    const far = entriesWith(gateway('gate', {}));
    far.apply({ ...httpRoute('r', [{ Name: 'gate', Namespace: 'default' }]) }, now);
    const [[text, route]] = [...far.all].filter(([, { Kind }]) => Kind === 'http-route') as [
      [string, Route],
    ];
    far.all.delete(text);
    far.all.set('elsewhere', { ...route, Namespace: 'team' });
    expect(far.remove('api-gateway', 'gate', later)).toEqual([
      'the http-route "r" of the namespace "team" names it as a parent',
    ]);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ApiGateway } from './api-gateway.ts';
import type { BoundApiGateway } from './bound-api-gateway.ts';
import type { ConfigEntry } from './config-entry.ts';
import {
  Entries,
  gateway,
  httpRoute,
  inlineCertificate,
  speaks,
  tcpRoute,
} from './gateways.test-helper.ts';
import type { Route } from './route-bindings.ts';

type Write =
  | { readonly apply: Readonly<Record<string, unknown>> }
  | { readonly remove: readonly [ConfigEntry['Kind'], string] };

const gateways = ['g0', 'g1'];
const routes = ['r0', 'r1', 'r2'];
const services = ['web', 'database'];
const certificates = ['c0', 'c1'];
const hosts = ['', 'a.b', '*.b', '*.c.b'];

const TLS = fc.option(
  fc.subarray(certificates).map((names) => ({ Certificates: names.map((Name) => ({ Name })) })),
);
const listener = fc.record({
  Protocol: fc.constantFrom('http', 'tcp'),
  Hostname: fc.constantFrom(...hosts),
  TLS,
});
const parents = fc.uniqueArray(
  fc.record({
    Name: fc.constantFrom(...gateways),
    SectionName: fc.constantFrom('', 'l0', 'l1', 'l2'),
  }),
  { maxLength: 3, selector: ({ Name, SectionName }) => `${Name}/${SectionName}` },
);
const namedServices = fc.subarray(services).map((names) => names.map((Name) => ({ Name })));

const write: fc.Arbitrary<Write> = fc.oneof(
  ...[
    fc
      .tuple(fc.constantFrom(...gateways), fc.array(listener, { minLength: 1, maxLength: 3 }))
      .map(([name, listeners]) =>
        gateway(
          name,
          ...listeners.map((one) => ({
            ...one,
            Hostname: one.Protocol === 'tcp' ? '' : one.Hostname,
          })),
        ),
      ),
    fc
      .tuple(fc.constantFrom(...routes), parents, fc.subarray(['a.b', 'x.c.b', 'z']), namedServices)
      .map(([name, ofRoute, Hostnames, Services]) =>
        httpRoute(name, ofRoute, { Hostnames, Rules: [{ Services }] }),
      ),
    fc
      .tuple(fc.constantFrom(...routes), parents, namedServices)
      .map(([name, ofRoute, Services]) =>
        tcpRoute(name, ofRoute, { Services: Services.slice(0, 1) }),
      ),
    fc
      .tuple(fc.constantFrom(...services), fc.constantFrom('', 'tcp', 'http', 'grpc'))
      .map(([name, protocol]) => speaks(name, protocol)),
    fc.constantFrom('tcp', 'http').map((protocol) => ({
      Kind: 'proxy-defaults',
      Name: 'global',
      Config: { protocol },
    })),
    fc.constantFrom(...certificates).map(inlineCertificate),
  ].map((entry) => entry.map((apply): Write => ({ apply }))),
  fc
    .constantFrom<readonly [ConfigEntry['Kind'], string]>(
      ...gateways.map((name) => ['api-gateway', name] as const),
      ...routes.flatMap((name) => [['http-route', name] as const, ['tcp-route', name] as const]),
      ...services.map((name) => ['service-defaults', name] as const),
      ...certificates.map((name) => ['inline-certificate', name] as const),
      ['proxy-defaults', 'global'],
    )
    .map((remove): Write => ({ remove })),
);

/** Binds all routes to all listeners from scratch, without knowing the last write. */
function expected(entries: Entries): Record<string, unknown> {
  const all = [...entries.all.values()];
  const kind = <E extends ConfigEntry>(name: string) =>
    all.filter(({ Kind }) => Kind === name) as E[];
  const everyRoute = [...kind<Route>('http-route'), ...kind<Route>('tcp-route')];
  const found: Record<string, unknown> = {};
  for (const one of kind<ApiGateway>('api-gateway')) {
    found[`${one.Name} is bound to`] = one.Listeners.map(({ Name }) =>
      everyRoute
        .filter((route) => isBound(entries, route, one, Name))
        .map(nameOf)
        .sort(),
    );
    found[`${one.Name} leads to`] = services
      .filter((service) =>
        everyRoute.some(
          (route) =>
            targets(route).includes(service) &&
            one.Listeners.some(({ Name }) => isBound(entries, route, one, Name)),
        ),
      )
      .sort();
    found[`${one.Name} is accepted`] = one.Listeners.every(({ TLS: tls }) =>
      (tls?.Certificates ?? []).every(
        (c) => entries.get('inline-certificate', c.Name) !== undefined,
      ),
    );
    found[`${one.Name} has conflicts`] = one.Listeners.filter(
      ({ Protocol, Name }) =>
        Protocol === 'tcp' &&
        everyRoute.filter((route) => isBound(entries, route, one, Name)).length > 1,
    ).map(({ Name }) => Name);
  }
  for (const route of everyRoute) {
    found[`${nameOf(route)} is accepted`] = isAccepted(entries, route);
    found[`${nameOf(route)} is bound`] = route.Parents.map((parent) => {
      const one = entries.get<ApiGateway>('api-gateway', parent.Name);
      if (one === undefined) return 'GatewayNotFound';
      const { Parents: _, ...rest } = route;
      const alone = { ...rest, Parents: [parent] } as Route;
      const isIt = one.Listeners.some(({ Name }) => isBound(entries, alone, one, Name));
      return isIt ? 'Bound' : 'FailedToBind';
    });
  }
  return found;
}

function isAccepted(entries: Entries, route: Route): boolean {
  const names = targets(route);
  return (
    names.length > 0 &&
    (route.Kind === 'tcp-route' || names.every((name) => speaksHttp(entries, name)))
  );
}

function speaksHttp(entries: Entries, service: string): boolean {
  const own = entries.get<ConfigEntry & { Protocol: string }>('service-defaults', service);
  const every = entries.get<ConfigEntry & { Config: { protocol: string } }>(
    'proxy-defaults',
    'global',
  );
  return ['http', 'grpc'].includes(own?.Protocol || every?.Config.protocol || 'tcp');
}

function isBound(entries: Entries, route: Route, one: ApiGateway, name: string): boolean {
  const { Protocol, Hostname } = one.Listeners.find((each) => each.Name === name)!;
  const isWanted = route.Parents.some(
    ({ Name, SectionName }) => Name === one.Name && ['', name].includes(SectionName),
  );
  if (!isWanted || !isAccepted(entries, route) || route.Kind !== `${Protocol}-route`) return false;
  if (!('Hostnames' in route) || route.Hostnames.length === 0 || Hostname === '') return true;
  return route.Hostnames.some((host) =>
    Hostname.startsWith('*') ? host.endsWith(Hostname.slice(1)) : host === Hostname,
  );
}

/** The users of the entry that would be at fault without it, by kind and name. */
function usersOf(entries: Entries, kind: ConfigEntry['Kind'], name: string): readonly string[] {
  const all = [...entries.all.values()];
  const used = all.find((one) => one.Kind === kind && one.Name === name);
  if (used === undefined) return [];
  const users = all.filter((one) => {
    if (one.Kind === 'api-gateway' && kind === 'inline-certificate') {
      const { Listeners } = one as ApiGateway;
      return Listeners.some(({ TLS: tls }) => tls?.Certificates.some(({ Name }) => Name === name));
    }
    if (one.Kind !== 'http-route' && one.Kind !== 'tcp-route') return false;
    const { Parents } = one as unknown as Route;
    if (kind === 'api-gateway') return Parents.some(({ Name }) => Name === name);
    if (kind !== 'service-defaults' && kind !== 'proxy-defaults') return false;
    const without = new Entries();
    for (const [text, entry] of entries.all) if (entry !== used) without.all.set(text, entry);
    const told = `${nameOf(one)} is accepted`;
    return expected(entries)[told] === true && expected(without)[told] === false;
  });
  return users.map(nameOf).sort();
}

const nameOf = ({ Kind, Name }: { readonly Kind: string; readonly Name: string }) =>
  `${Kind} ${Name}`;
const targets = (route: Route): string[] =>
  'Rules' in route
    ? route.Rules.flatMap(({ Services }) => Services.map(({ Name }) => Name))
    : route.Services.map(({ Name }) => Name);

/** The same answers, from the stored entries. */
function stored(entries: Entries): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const entry of entries.all.values()) {
    const conditions = (entry as ApiGateway).Status?.Conditions ?? [];
    if (entry.Kind === 'bound-api-gateway') {
      const bound = entry as unknown as BoundApiGateway;
      found[`${entry.Name} is bound to`] = bound.Listeners.map(({ Routes }) => Routes.map(nameOf));
      found[`${entry.Name} leads to`] = bound.Services.map(({ Name }) => Name);
    } else if (entry.Kind === 'api-gateway') {
      found[`${entry.Name} is accepted`] = conditions[0]?.Status === 'True';
      found[`${entry.Name} has conflicts`] = conditions
        .filter(({ Type, Status }) => Type === 'Conflicted' && Status === 'True')
        .map(({ Resource }) => Resource?.SectionName);
    } else if (entry.Kind === 'http-route' || entry.Kind === 'tcp-route') {
      found[`${nameOf(entry)} is accepted`] = conditions[0]?.Status === 'True';
      found[`${nameOf(entry)} is bound`] = conditions
        .filter(({ Type }) => Type === 'Bound')
        .map(({ Reason }) => Reason);
    }
  }
  return found;
}

/** Every condition by its subject, with its state and the time of its last change. */
function conditionsOf(entries: Entries): Map<string, { state: string; since: string }> {
  const found = new Map<string, { state: string; since: string }>();
  for (const entry of entries.all.values()) {
    for (const one of (entry as ApiGateway).Status?.Conditions ?? []) {
      const about = `${nameOf(entry)} ${one.Type} ${JSON.stringify(one.Resource)}`;
      found.set(about, { state: `${one.Status} ${one.Reason}`, since: one.LastTransitionTime });
    }
  }
  return found;
}

/** Deletes entries until no entry can be deleted. */
function removeAll(entries: Entries): void {
  let isChanged = true;
  while (isChanged) {
    isChanged = false;
    for (const { Kind, Name } of [...entries.all.values()]) {
      if (Kind === 'bound-api-gateway') continue;
      if (entries.remove(Kind, Name, 'the end').length === 0) isChanged = true;
    }
  }
}

test('after any writes, the entries are those that a computation from scratch gives', () => {
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 30 }), (writes) => {
      const entries = new Entries();
      writes.forEach((one, step) => {
        const before = conditionsOf(entries);
        const now = `step ${step}`;
        if ('apply' in one) entries.apply(one.apply, now);
        else {
          const users = usersOf(entries, ...one.remove);
          const reasons = entries.remove(...one.remove, now);
          const told = reasons.map((reason) => /^the (\S+) "(\w+)"/.exec(reason)!);
          expect([...new Set(told.map(([, kind, name]) => `${kind} ${name}`))].sort()).toEqual(
            users,
          );
        }
        expect(stored(entries)).toEqual(expected(entries));
        for (const [about, { state, since }] of conditionsOf(entries)) {
          const old = before.get(about);
          expect([about, since]).toEqual([about, old?.state === state ? old.since : now]);
        }
      });
      removeAll(entries);
      expect(entries.all.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});

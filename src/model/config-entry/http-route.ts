import { defaultNamespace } from '../namespace/namespace.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import { About, FullList, type Model, Nullable, stamps, Text, Type, Whole } from '../schema.ts';
import { type ConfigEntry, type EntryKey, entryFields } from './config-entry.ts';
import { connectionLimits } from './connection-limits.ts';
import { faultsOf } from './faults.ts';
import { StatusField } from './gateway-status.ts';
import { checkHostname } from './hostname.ts';
import { checkMatch, HttpMatchSchema, matchOfEverything, normalizeMatch } from './http-match.ts';
import type { ConfigKind } from './kind.ts';
import {
  checkServiceName,
  identityOf,
  namedServiceFields,
  placedReference,
  serviceNameOf,
} from './named-service.ts';
import {
  checkResponseFilters,
  checkRouteFilters,
  ResponseFiltersField,
  RouteFiltersField,
} from './route-filters.ts';
import { checkParents, keysOfParents, RouteParents } from './route-parents.ts';
import { anyRoute, checkSecretDiscovery, SecretDiscoveryField } from './secret-discovery.ts';

const HttpServiceSchema = Type.Object(
  {
    ...namedServiceFields,
    Weight: About(
      'The service’s share of the requests, out of the sum of the weights of the rule’s services.',
      Whole({ maximum: 2 ** 31 - 1 }),
      { absent: '1; weights below 1 count as 1' },
    ),
    Filters: RouteFiltersField(),
    ResponseFilters: ResponseFiltersField(),
    Limits: About(
      'Limits of simultaneous connections and requests.',
      Nullable(Type.Object(connectionLimits, { title: 'ServiceLimits' })),
    ),
    TLS: About(
      'The certificate for the route’s hosts.',
      Nullable(Type.Object({ SDS: SecretDiscoveryField() }, { title: 'ServiceTLS' })),
    ),
  },
  { title: 'HTTPService' },
);

const HttpRuleSchema = Type.Object(
  {
    Filters: RouteFiltersField(),
    ResponseFilters: ResponseFiltersField(),
    Matches: About('The requests of the rule: one match suffices.', FullList(HttpMatchSchema), {
      absent: 'every request',
    }),
    Services: About(
      'The services that get these requests, by weight.',
      FullList(HttpServiceSchema),
    ),
  },
  { title: 'HTTPRule' },
);

const HttpRouteSchema = Type.Object({
  ...entryFields,
  Parents: RouteParents(),
  Hostnames: About('The hosts of the route’s requests.', FullList(Text()), {
    absent: 'all hosts that the listener accepts',
    rules: 'host names without a wildcard',
  }),
  Rules: About('The rules; a request follows the first that it matches.', FullList(HttpRuleSchema)),
  Status: StatusField(),
  ...stamps,
});
export type HttpRoute = ConfigEntry & Model<typeof HttpRouteSchema>;
type Rule = HttpRoute['Rules'][number];

/** Source: docs/behaviour/gateways.md#http-routes. */
export const httpRoute: ConfigKind<HttpRoute> = {
  kind: 'http-route',
  summary: 'Routes requests of API gateways’ listeners to services, by host, path and more.',
  acts:
    'The route is bound to the listeners that it names and that accept it; its `Status` lists them, or ' +
    'the reason of a refusal. Its rules are for a proxy, which Roster does not run.',
  deletion: {
    usedBy: 'none',
    outcome: 'allowed: it is no longer bound to listeners',
  },
  schema: HttpRouteSchema,
  access: 'mesh',
  normalize: (route) => ({
    ...route,
    Parents: route.Parents.map((parent) => placedReference(parent, route)),
    Hostnames: route.Hostnames.map((host) => host.toLowerCase()),
    Rules: route.Rules.map((rule) => ({
      ...rule,
      Matches: rule.Matches.length === 0 ? [matchOfEverything] : rule.Matches.map(normalizeMatch),
      Services: rule.Services.map((service) => ({
        ...placedReference(service, route),
        Weight: Math.max(1, service.Weight),
      })),
    })),
  }),
  faults: (route) =>
    faultsOf((report) => {
      checkParents(route.Parents, report);
      route.Hostnames.forEach((host, index) => {
        const at = below(null, 'Hostnames', index);
        checkHostname(host, 'no wildcard', at, report);
        if (route.Hostnames.indexOf(host) !== index) report(at, `${quote(host)} is listed already`);
      });
      route.Rules.forEach((rule, index) => {
        checkRule(route, rule, below(null, 'Rules', index), report);
      });
    }),
  services: ({ Rules }) => {
    const services = Rules.flatMap(({ Services }) => Services);
    return [...new Map(services.map((one) => [identityOf(one), serviceNameOf(one)])).values()];
  },
  // Whether the route is accepted depends on the protocols of its services, and `proxy-defaults` may give
  // these.
  names: ({ Parents, Rules }) => [
    ...keysOfParents(Parents),
    ...proxyDefaultsFor(Rules.flatMap(({ Services }) => Services)),
  ],
  example: {
    Kind: 'http-route',
    Name: 'shop',
    Parents: [{ Name: 'public', SectionName: 'http' }],
    Hostnames: ['shop.example.com'],
    Rules: [
      {
        Matches: [{ Path: { Match: 'prefix', Value: '/orders' }, Method: 'GET' }],
        Filters: {
          Headers: [{ Set: { 'x-from': 'gateway' }, Remove: ['x-debug'] }],
          URLRewrite: { Path: '/' },
          TimeoutFilter: { RequestTimeout: '10s' },
        },
        Services: [
          { Name: 'orders', Weight: 9 },
          { Name: 'orders-next', Weight: 1 },
        ],
      },
      { Services: [{ Name: 'shop' }] },
    ],
  },
  exampleNeeds: [
    ...['orders', 'orders-next', 'shop'].map((Name) => ({
      Kind: 'service-defaults',
      Name,
      Protocol: 'http',
    })),
    {
      Kind: 'api-gateway',
      Name: 'public',
      Listeners: [{ Name: 'http', Port: 8080, Protocol: 'http' }],
    },
  ],
};

const proxyDefaultsFor = (
  services: readonly { readonly Partition: string }[],
): readonly EntryKey[] =>
  [...new Set(services.map(({ Partition }) => Partition))].map((partition) => ({
    partition,
    namespace: defaultNamespace,
    kind: 'proxy-defaults',
    name: 'global',
  }));

function checkRule(route: HttpRoute, rule: Rule, path: Path, report: Report): void {
  rule.Matches.forEach((match, index) => {
    checkMatch(match, below(path, 'Matches', index), report);
  });
  checkRouteFilters(rule.Filters, below(path, 'Filters'), report);
  checkResponseFilters(rule.ResponseFilters, below(path, 'ResponseFilters'), report);
  rule.Services.forEach((service, index) => {
    const at = below(path, 'Services', index);
    checkServiceName(service, 'one', at, report);
    checkRouteFilters(service.Filters, below(at, 'Filters'), report);
    checkResponseFilters(service.ResponseFilters, below(at, 'ResponseFilters'), report);
    const sds = service.TLS?.SDS ?? null;
    checkSecretDiscovery(sds, anyRoute, below(at, 'TLS', 'SDS'), report);
    if (sds !== null && route.Hostnames.length === 0) {
      const needed = 'must not be given without Hostnames: a certificate is for hosts';
      report(below(at, 'TLS', 'SDS'), needed);
    }
  });
}

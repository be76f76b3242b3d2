import { below, type Path, quote, type Report } from '../path.ts';
import {
  About,
  Choice,
  Flag,
  List,
  type Model,
  Nanoseconds,
  Nullable,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { checkUnique, isPattern } from '../text-rules.ts';
import { entryFields } from './config-entry.ts';
import { checkServiceName, destinationFields, namedServices } from './destination.ts';
import { faultsOf, isGiven } from './faults.ts';
import { checkHeaders, headerFields, isHeaderName } from './header-changes.ts';
import type { ConfigKind } from './kind.ts';
import { retryConditions } from './retry-conditions.ts';

const RouteHeaderSchema = Type.Object({
  Name: About('Name of the header.', Text(), { rules: 'required' }),
  Present: About('Matches any value.', Flag()),
  Exact: About('Equals this value.', Text()),
  Prefix: About('Begins with this text.', Text()),
  Suffix: About('Ends with this text.', Text()),
  Regex: About('Matches this pattern (RE2).', Text()),
  Invert: About('Inverts the match.', Flag()),
});
const headerTests = ['Present', 'Exact', 'Prefix', 'Suffix', 'Regex'] as const;

const RouteParameterSchema = Type.Object({
  Name: About('Name of the parameter.', Text(), { rules: 'required' }),
  Present: About('Matches any value.', Flag()),
  Exact: About('Equals this value.', Text()),
  Regex: About('Matches this pattern (RE2).', Text()),
});
const parameterTests = ['Present', 'Exact', 'Regex'] as const;

export const RouteHttpMatchSchema = Type.Object({
  PathExact: About('The path equals this text.', Text(), { rules: 'begins with `/`' }),
  PathPrefix: About('The path begins with this text.', Text(), { rules: 'begins with `/`' }),
  PathRegex: About('The path matches this pattern (RE2).', Text()),
  CaseInsensitive: About('Whether the match of the path ignores case.', Flag()),
  Header: About('Headers that all have to match.', List(RouteHeaderSchema), {
    rules: 'exactly one of `Present`, `Exact`, `Prefix`, `Suffix` and `Regex` each',
  }),
  QueryParam: About('Parameters that all have to match.', List(RouteParameterSchema), {
    rules: 'exactly one of `Present`, `Exact` and `Regex` each',
  }),
  Methods: About('One of these methods.', List(Type.String()), { absent: 'every method' }),
});
type RouteHttpMatch = Model<typeof RouteHttpMatchSchema>;

export const RouteDestinationSchema = Type.Object({
  ...destinationFields,
  PrefixRewrite: About('Replaces the matched path.', Text(), {
    rules: 'only with `PathExact` or `PathPrefix`',
  }),
  RequestTimeout: About('Timeout of a request, with all its retries.', duration()),
  IdleTimeout: About('Timeout of an idle stream.', duration()),
  NumRetries: About('Number of retries.', Whole({ minimum: 0 })),
  RetryOnConnectFailure: About('Whether a failed connection is retried.', Flag()),
  RetryOn: About('Further failures that cause a retry.', List(Choice(retryConditions))),
  RetryOnStatusCodes: About(
    'Status codes that cause a retry.',
    List(Type.Integer({ minimum: 100, maximum: 599 })),
  ),
  ...headerFields,
});

export const ServiceRouteSchema = Type.Object({
  Match: About(
    'The requests of the route.',
    Nullable(Type.Object({ HTTP: About('By HTTP.', Nullable(RouteHttpMatchSchema)) })),
    { absent: 'all' },
  ),
  Destination: About('The service that gets these requests.', Nullable(RouteDestinationSchema), {
    absent: 'the service of the router',
  }),
});
export type ServiceRoute = Model<typeof ServiceRouteSchema>;

export const ServiceRouterSchema = Type.Object({
  ...entryFields,
  Routes: About(
    'The routes; a request follows the first that it matches. All other requests go to the service itself.',
    List(ServiceRouteSchema),
  ),
  ...stamps,
});
export type ServiceRouter = Model<typeof ServiceRouterSchema> & { readonly Kind: 'service-router' };

/** Source: docs/behaviour/discovery.md#routers. */
export const serviceRouter: ConfigKind<ServiceRouter> = {
  kind: 'service-router',
  summary:
    'Routes requests for a service to other services, by path, headers, parameters or method.',
  acts:
    'It is part of the discovery chain of the service ([the guide](../../guides/traffic.md)), ' +
    'which proxies apply. Roster runs none, so the entry alone moves no request.',
  deletion: {
    usedBy: 'none',
    outcome: 'allowed: requests go to the splitter, otherwise to the resolver',
  },
  schema: ServiceRouterSchema,
  access: 'service',
  normalize: (entry) => ({ ...entry, Routes: entry.Routes?.map(normalizeRoute) ?? null }),
  faults: (entry) =>
    faultsOf((report) => {
      (entry.Routes ?? []).forEach((route, index) => {
        checkRoute(route, below(null, 'Routes', index), report);
      });
    }),
  services: (entry) =>
    namedServices(
      entry,
      (entry.Routes ?? []).flatMap(({ Destination }) => Destination ?? []),
    ),
  example: {
    Kind: 'service-router',
    Name: 'shop',
    Routes: [
      {
        Match: { HTTP: { PathPrefix: '/admin', Methods: ['GET'] } },
        Destination: { Service: 'shop-admin', PrefixRewrite: '/', RequestTimeout: '15s' },
      },
    ],
  },
  exampleNeeds: [
    { Kind: 'service-defaults', Name: 'shop', Protocol: 'http' },
    { Kind: 'service-defaults', Name: 'shop-admin', Protocol: 'http' },
  ],
};

function duration() {
  return Nanoseconds({ minimum: 0 });
}

function normalizeRoute(route: ServiceRoute): ServiceRoute {
  const methods = route.Match?.HTTP?.Methods;
  if (!methods) return route;
  const HTTP = { ...route.Match!.HTTP!, Methods: methods.map((method) => method.toUpperCase()) };
  return { ...route, Match: { HTTP } };
}

function checkRoute({ Match, Destination }: ServiceRoute, path: Path, report: Report): void {
  const match = Match?.HTTP ?? null;
  if (match !== null) checkMatch(match, below(path, 'Match', 'HTTP'), report);
  if (Destination === null) return;
  const at = below(path, 'Destination');
  checkServiceName(Destination.Service, below(at, 'Service'), report);
  checkHeaders(Destination, at, report);
  const hasPath = match !== null && (match.PathExact !== '' || match.PathPrefix !== '');
  if (Destination.PrefixRewrite !== '' && !hasPath) {
    report(below(at, 'PrefixRewrite'), 'needs a match with PathExact or PathPrefix');
  }
}

const paths = ['PathExact', 'PathPrefix', 'PathRegex'] as const;
const methodNames = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT'.split(' ');

function checkMatch(match: RouteHttpMatch, path: Path, report: Report): void {
  const given = paths.filter((field) => match[field] !== '');
  if (given.length > 1) report(path, `can have only one of ${paths.join(', ')}`);
  for (const field of ['PathExact', 'PathPrefix'] as const) {
    const isPath = match[field] === '' || match[field].startsWith('/');
    if (!isPath) report(below(path, field), `must begin with "/", got ${quote(match[field])}`);
  }
  checkPattern(match.PathRegex, below(path, 'PathRegex'), report);
  (match.Header ?? []).forEach((header, index) => {
    const at = below(path, 'Header', index);
    checkTests(header, headerTests, at, report);
    const isName = header.Name === '' || isHeaderName(header.Name);
    if (!isName) report(below(at, 'Name'), `is no name of a header: ${quote(header.Name)}`);
  });
  (match.QueryParam ?? []).forEach((parameter, index) => {
    checkTests(parameter, parameterTests, below(path, 'QueryParam', index), report);
  });
  checkMethods(match.Methods ?? [], below(path, 'Methods'), report);
}

function checkTests<F extends string>(
  test: Readonly<Record<F, unknown>> & { readonly Name: string; readonly Regex: string },
  fields: readonly F[],
  path: Path,
  report: Report,
): void {
  if (test.Name === '') report(below(path, 'Name'), 'is required');
  const given = fields.filter((field) => isGiven(test[field]));
  if (given.length !== 1) {
    const got = given.length === 0 ? 'none' : given.join(' and ');
    report(path, `must have exactly one of ${fields.join(', ')}, got ${got}`);
  }
  checkPattern(test.Regex, below(path, 'Regex'), report);
}

function checkPattern(pattern: string, path: Path, report: Report): void {
  if (pattern !== '' && !isPattern(pattern)) report(path, `is no pattern: ${quote(pattern)}`);
}

function checkMethods(methods: readonly string[], path: Path, report: Report): void {
  methods.forEach((method, index) => {
    if (methodNames.includes(method)) return;
    report(below(path, index), `is no method of HTTP: ${quote(method)}`);
  });
  checkUnique(methods, (index) => below(path, index), report);
}

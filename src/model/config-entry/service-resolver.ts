import type { Fault } from '../errors.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import {
  About,
  Choice,
  Flag,
  FullMapOf,
  List,
  type Model,
  Nanoseconds,
  Nullable,
  stamps,
  Text,
  Type,
} from '../schema.ts';
import { entryFields } from './config-entry.ts';
import { checkServiceName, destinationFields, namedServices } from './destination.ts';
import { faultsOf, isGiven, refuseFields } from './faults.ts';
import { instanceFilterFault } from './instance-selector.ts';
import type { ConfigKind } from './kind.ts';
import { checkLoadBalancer, LoadBalancerSchema } from './load-balancer.ts';
import { noSamenessGroups } from './sameness.ts';

const { Partition, ...inPartition } = destinationFields;
const Datacenter = About('The datacenter of the service.', Text(), {
  absent: 'the datacenter of the request',
});
const Peer = About('The peer that has the service.', Text(), { absent: 'this cluster' });
const SamenessGroup = About('A sameness group. Roster has none.', Text());

export const ResolverSubsetSchema = Type.Object({
  Filter: About(
    'The instances of the subset, as a filter over instances with their health.',
    Text(),
    {
      absent: 'all',
    },
  ),
  OnlyPassing: About('Exclude instances with a warning.', Flag()),
});

const RedirectSchema = Type.Object({
  ...destinationFields,
  Datacenter,
  Peer,
  SamenessGroup,
});
export type Redirect = Model<typeof RedirectSchema>;

const FailoverTargetSchema = Type.Object({ ...destinationFields, Datacenter, Peer });
export type FailoverTarget = Model<typeof FailoverTargetSchema>;

export const FailoverPolicySchema = Type.Object({
  Mode: About('The order of the targets.', Choice(['', 'sequential', 'order-by-locality'], '')),
  Regions: About('Regions to try first.', List(Type.String())),
});

const FailoverSchema = Type.Object({
  ...inPartition,
  Datacenters: About('The targets, in order.', List(Type.String())),
  Targets: About('The targets, in order.', List(FailoverTargetSchema), {
    rules: 'not together with `Service`, `ServiceSubset`, `Namespace` or `Datacenters`',
  }),
  Policy: About('The order of the targets.', Nullable(FailoverPolicySchema)),
  SamenessGroup,
});
export type Failover = Model<typeof FailoverSchema>;

export const ServiceResolverSchema = Type.Object({
  ...entryFields,
  DefaultSubset: About('The subset for requests that name none.', Text(), {
    rules: 'one of `Subsets`',
  }),
  Subsets: About('Parts of the instances, by names.', FullMapOf(ResolverSubsetSchema), {
    rules: 'each name a DNS label',
  }),
  Redirect: About('The service that replaces this service.', Nullable(RedirectSchema), {
    rules: 'not empty; not together with `Failover`',
  }),
  Failover: About(
    'Targets when no instance is healthy: by subset, or `*` for all other subsets.',
    FullMapOf(FailoverSchema),
  ),
  ConnectTimeout: About('Timeout of a connection.', Nanoseconds({ minimum: 0 }), {
    absent: '`5s` in the compiled chain',
  }),
  RequestTimeout: About('Timeout of a request.', Nanoseconds({ minimum: 0 }), {
    absent: 'left to the proxy',
  }),
  LoadBalancer: About('How an instance is chosen.', Nullable(LoadBalancerSchema)),
  PrioritizeByLocality: About(
    'Whether instances nearby are preferred.',
    Nullable(
      Type.Object({
        Mode: About(
          '`failover`: only the nearest healthy instances.',
          Choice(['', 'none', 'failover'], ''),
        ),
      }),
    ),
  ),
  ...stamps,
});
export type ServiceResolver = Model<typeof ServiceResolverSchema> & {
  readonly Kind: 'service-resolver';
};

/** Source: docs/behaviour/discovery.md#resolvers. */
export const serviceResolver: ConfigKind<ServiceResolver> = {
  kind: 'service-resolver',
  summary: 'The instances of a service: subsets, redirects, failover and timeouts.',
  acts:
    'It is part of the discovery chains that lead to the service ([the ' +
    'guide](../../guides/traffic.md)), which proxies apply. Roster runs none, and does not apply ' +
    'the filters to instances: it checks and shows them.',
  deletion: {
    usedBy: 'chains: `service-router`, `service-splitter`, `service-resolver` (subsets, redirects)',
    outcome: 'refused while a chain needs it',
  },
  schema: ServiceResolverSchema,
  access: 'service',
  faults: (entry) => [...faultsOf((report) => check(entry, report)), ...samenessFaults(entry)],
  services: (entry) =>
    namedServices(
      entry,
      // A destination at a peer is not a service of this cluster.
      destinations(entry).filter(({ Peer }) => Peer === ''),
    ),
  example: {
    Kind: 'service-resolver',
    Name: 'checkout',
    ConnectTimeout: '3s',
    DefaultSubset: 'stable',
    Subsets: {
      stable: { Filter: 'Service.Meta.version == 1' },
      next: { Filter: 'Service.Meta.version == 2', OnlyPassing: true },
    },
    Failover: { '*': { Targets: [{ Datacenter: 'dc2' }, { Peer: 'east' }] } },
  },
};

/** The key of the failover for all subsets without their own. */
export const everySubset = '*';

function destinations({ Redirect, Failover }: ServiceResolver): readonly FailoverTarget[] {
  return [
    ...(Redirect === null ? [] : [Redirect]),
    ...Object.values(Failover).flatMap((failover) => [
      { ...failover, Partition: '', Datacenter: '', Peer: '' },
      ...(failover.Targets ?? []),
    ]),
  ];
}

/** Roster has no sameness groups, and refuses an entry that names one. */
function samenessFaults({ Redirect, Failover }: ServiceResolver): readonly Fault[] {
  const groups: [string, Path][] = Object.entries(Failover).map(([subset, { SamenessGroup }]) => {
    return [SamenessGroup, below(null, 'Failover', subset)];
  });
  if (Redirect !== null) groups.unshift([Redirect.SamenessGroup, below(null, 'Redirect')]);
  return groups.flatMap(([group, path]) => noSamenessGroups(group, path));
}

function check(entry: ServiceResolver, report: Report): void {
  const at = (...keys: (string | number)[]): Path => below(null, ...keys);
  for (const [name, { Filter }] of Object.entries(entry.Subsets)) {
    if (!isLabel(name)) report(at('Subsets', name), 'must be named by a DNS label');
    const fault = instanceFilterFault(Filter);
    if (fault !== undefined) report(at('Subsets', name, 'Filter'), `is wrong: ${fault}`);
  }
  const { DefaultSubset, Redirect, Failover } = entry;
  if (DefaultSubset !== '' && !Object.hasOwn(entry.Subsets, DefaultSubset)) {
    report(at('DefaultSubset'), `must be one of Subsets, got ${quote(DefaultSubset)}`);
  }
  const hasFailover = Object.keys(Failover).length > 0;
  if (Redirect !== null && hasFailover) report(at('Failover'), 'must not be given with Redirect');
  if (Redirect !== null) checkRedirect(Redirect, at('Redirect'), report);
  for (const [subset, failover] of Object.entries(Failover)) {
    const path = at('Failover', subset);
    const isKnown = subset === everySubset || Object.hasOwn(entry.Subsets, subset);
    if (!isKnown) report(path, 'must be named by one of Subsets or *');
    checkFailover(entry, failover, path, report);
  }
  if (entry.LoadBalancer) checkLoadBalancer(entry.LoadBalancer, at('LoadBalancer'), report);
}

const isLabel = (name: string): boolean => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(name);

function checkRedirect(redirect: Redirect, path: Path, report: Report): void {
  const elsewhere = ['Service', 'Namespace', 'Partition', 'Datacenter', 'Peer'] as const;
  const leads = elsewhere.some((field) => redirect[field] !== '');
  if (!leads && redirect.ServiceSubset === '' && redirect.SamenessGroup === '') {
    report(path, 'is empty: it must name a destination');
  } else if (!leads && redirect.ServiceSubset !== '') {
    report(below(path, 'ServiceSubset'), `needs one of ${elsewhere.slice(0, 4).join(', ')} too`);
  }
  checkTarget(redirect, path, report);
}

function checkFailover(entry: ServiceResolver, failover: Failover, path: Path, report: Report) {
  const own = ['Service', 'ServiceSubset', 'Namespace'] as const;
  const datacenters = failover.Datacenters ?? [];
  const targets = failover.Targets ?? [];
  const says = own.some((field) => failover[field] !== '') || datacenters.length > 0;
  if (targets.length > 0) {
    refuseFields(failover, [...own, 'Datacenters'], (field) =>
      report(below(path, field), 'must not be given together with Targets'),
    );
  } else if (!says && failover.SamenessGroup === '') {
    const fields = [...own, 'Datacenters', 'Targets'].join(', ');
    report(path, `must have one of ${fields}`);
  }
  checkServiceName(failover.Service, below(path, 'Service'), report);
  checkOwnSubset(entry, failover, path, report);
  datacenters.forEach((datacenter, index) => {
    if (datacenter === '') report(below(path, 'Datacenters', index), 'must not be empty');
  });
  targets.forEach((target, index) => {
    const at = below(path, 'Targets', index);
    checkTarget(target, at, report);
    checkOwnSubset(entry, target, at, report);
  });
}

function checkTarget(target: FailoverTarget, path: Path, report: Report): void {
  checkServiceName(target.Service, below(path, 'Service'), report);
  if (target.Peer === '') return;
  refuseFields(target, ['ServiceSubset', 'Partition', 'Datacenter'], (field) =>
    report(below(path, field), 'must not be given together with Peer'),
  );
}

/**
 * A subset of the entry's own service must exist; subsets of other services are checked when chains are made.
 */
function checkOwnSubset(
  entry: ServiceResolver,
  { Service, ServiceSubset, Namespace }: Pick<Failover, 'Service' | 'ServiceSubset' | 'Namespace'>,
  path: Path,
  report: Report,
): void {
  const isOwn = Service === '' || Service === entry.Name;
  if (!isGiven(ServiceSubset) || !isOwn || Namespace !== '') return;
  if (Object.hasOwn(entry.Subsets, ServiceSubset)) return;
  report(below(path, 'ServiceSubset'), `must be one of Subsets, got ${quote(ServiceSubset)}`);
}

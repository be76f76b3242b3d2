import type { Fault } from '../errors.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import {
  About,
  Choice,
  Flag,
  FullList,
  type Model,
  Nullable,
  stamps,
  Text,
  Type,
} from '../schema.ts';
import { type ConfigEntry, entryFields, everyService } from './config-entry.ts';
import { connectionLimits } from './connection-limits.ts';
import { faultsOf } from './faults.ts';
import { checkHeaders, headerFields } from './header-changes.ts';
import { checkHostname, everyHost } from './hostname.ts';
import type { ConfigKind } from './kind.ts';
import { checkListenerPort } from './listener-port.ts';
import {
  checkDistinct,
  checkServiceName,
  namedServiceFields,
  placedReference,
  serviceNameOf,
} from './named-service.ts';
import { PassiveHealthCheckSchema, PortNumber } from './proxy-fields.ts';
import { anyListener, checkSecretDiscovery, SecretDiscoveryField } from './secret-discovery.ts';
import { gatewayTlsFields, tlsFaults } from './tls.ts';

const protocols = ['tcp', 'http', 'http2', 'grpc'] as const;

const passiveHealthCheck = About(
  'The failures after which an instance is ejected for a while.',
  Nullable(PassiveHealthCheckSchema),
);

const TlsSchema = Type.Object(
  {
    Enabled: About('Use TLS, with a certificate for the `Hosts` of all services.', Flag()),
    SDS: SecretDiscoveryField(),
    ...gatewayTlsFields(),
  },
  { title: 'IngressTLS' },
);

const IngressServiceSchema = Type.Object(
  {
    ...namedServiceFields,
    Name: About(
      'Name of the service; `*`: all services with the protocol of the listener.',
      Text(),
      {
        rules: 'required; `*` not with tcp, and without `Hosts`',
      },
    ),
    Hosts: About('The hosts whose requests go to the service.', FullList(Text()), {
      absent: '`NAME.ingress.*`',
      rules:
        'host names, a `*` only for the whole first label; `*` alone not with TLS; not with tcp',
    }),
    TLS: About(
      'The certificate for these hosts.',
      Nullable(Type.Object({ SDS: SecretDiscoveryField() }, { title: 'ServiceTLS' })),
    ),
    ...headerFields,
    ...connectionLimits,
    PassiveHealthCheck: passiveHealthCheck,
  },
  { title: 'IngressService' },
);

const IngressListenerSchema = Type.Object(
  {
    Port: About('The port of the listener.', PortNumber(), {
      rules: 'different from the ports of other listeners',
    }),
    Protocol: About('Protocol of the listener.', Choice(protocols, 'tcp')),
    TLS: About(
      'Settings of this listener; absent settings are those of the gateway.',
      Nullable(TlsSchema),
    ),
    Services: About(
      'The services that the listener leads to; one service with tcp.',
      FullList(IngressServiceSchema),
    ),
  },
  { title: 'IngressListener' },
);

const IngressGatewaySchema = Type.Object({
  ...entryFields,
  TLS: About('TLS settings of all listeners.', Nullable(TlsSchema)),
  Listeners: About('The listeners with their services.', FullList(IngressListenerSchema)),
  Defaults: About(
    'Default for services without a setting.',
    Nullable(
      Type.Object(
        { ...connectionLimits, PassiveHealthCheck: passiveHealthCheck },
        { title: 'IngressDefaults' },
      ),
    ),
  ),
  ...stamps,
});
export type IngressGateway = ConfigEntry & Model<typeof IngressGatewaySchema>;
type Listener = IngressGateway['Listeners'][number];
type Service = Listener['Services'][number];
type Tls = NonNullable<IngressGateway['TLS']>;

/** Source: docs/behaviour/gateways.md#ingress-gateways. */
export const ingressGateway: ConfigKind<IngressGateway> = {
  kind: 'ingress-gateway',
  summary: 'Listeners through which clients outside of the mesh reach services in it.',
  acts:
    'The protocols of its listeners have to match those of its services, also after later ' +
    'changes. Nothing listens on its ports: Roster runs no proxies.',
  deletion: {
    usedBy: 'none',
    outcome: 'allowed',
  },
  schema: IngressGatewaySchema,
  access: 'gateway',
  normalize: (gateway) => ({
    ...gateway,
    Listeners: gateway.Listeners.map((listener) => ({
      ...listener,
      Services: listener.Services.map((service) => placedReference(service, gateway)),
    })),
  }),
  faults: (gateway) => [
    ...faultsOf((report) => {
      const sds = gateway.TLS?.SDS ?? null;
      checkSecretDiscovery(sds, anyListener, below(null, 'TLS', 'SDS'), report);
      checkPorts(gateway.Listeners, report);
      gateway.Listeners.forEach((listener, index) => {
        checkListener(gateway, listener, below(null, 'Listeners', index), report);
      });
    }),
    ...tlsFaultsOf(gateway.TLS, below(null, 'TLS')),
    ...gateway.Listeners.flatMap(({ TLS }, index) =>
      tlsFaultsOf(TLS, below(null, 'Listeners', index, 'TLS')),
    ),
  ],
  services: ({ Listeners }) =>
    Listeners.flatMap(({ Services }) => Services)
      .filter(({ Name }) => Name !== everyService)
      .map(serviceNameOf),
  example: {
    Kind: 'ingress-gateway',
    Name: 'front',
    TLS: { Enabled: true, TLSMinVersion: 'TLSv1_2' },
    Listeners: [
      {
        Port: 8443,
        Protocol: 'http',
        Services: [
          {
            Name: 'shop',
            Hosts: ['shop.example.com', '*.shop.example.com'],
            RequestHeaders: { Set: { 'x-gateway': 'front' } },
            MaxConnections: 1000,
          },
        ],
      },
      { Port: 5432, Protocol: 'tcp', Services: [{ Name: 'orders-database' }] },
    ],
  },
  exampleNeeds: [{ Kind: 'service-defaults', Name: 'shop', Protocol: 'http' }],
};

function tlsFaultsOf(tls: Tls | null, path: Path): Fault[] {
  if (tls === null) return [];
  const { TLSMinVersion: least, TLSMaxVersion: most, CipherSuites: suites } = tls;
  return tlsFaults({ least, most, suites }, path);
}

function checkPorts(listeners: readonly Listener[], report: Report): void {
  const ports = listeners.map(({ Port }) => Port);
  ports.forEach((port, index) => {
    const path = below(null, 'Listeners', index, 'Port');
    checkListenerPort(port, path, report);
    const first = ports.indexOf(port);
    if (port > 0 && first !== index)
      report(path, `${port} is also the port of Listeners[${first}]`);
  });
}

function checkListener(
  gateway: IngressGateway,
  listener: Listener,
  path: Path,
  report: Report,
): void {
  const { Protocol, Services } = listener;
  const sds = listener.TLS?.SDS ?? null;
  const at = below(path, 'TLS', 'SDS');
  checkSecretDiscovery(sds, { inherited: [gateway.TLS?.SDS], needsResource: false }, at, report);
  if (Services.length === 0) report(below(path, 'Services'), 'must name at least one service');
  if (Protocol === 'tcp' && Services.length > 1) {
    report(below(path, 'Services'), `must be one service with tcp, got ${Services.length}`);
  }
  const pathOf = (index: number) => below(path, 'Services', index);
  checkDistinct(Services, pathOf, report);
  const hosts = new Map<string, number>();
  Services.forEach((service, index) => {
    checkService({ gateway, listener, service }, pathOf(index), report);
    service.Hosts.forEach((host, hostIndex) => {
      const first = hosts.get(host.toLowerCase());
      if (first !== undefined) {
        const at = below(pathOf(index), 'Hosts', hostIndex);
        report(at, `${quote(host)} is listed already, in Services[${first}]`);
      } else hosts.set(host.toLowerCase(), index);
    });
  });
}

interface OfferedService {
  readonly gateway: IngressGateway;
  readonly listener: Listener;
  readonly service: Service;
}

function checkService(offered: OfferedService, path: Path, report: Report): void {
  const { gateway, listener, service } = offered;
  checkServiceName(service, 'every too', path, report);
  if (listener.Protocol === 'tcp') checkTcpService(service, path, report);
  else if (service.Name === everyService && service.Hosts.length > 0) {
    report(below(path, 'Hosts'), 'must not be given for every service ("*")');
  }
  const hasTls = (gateway.TLS?.Enabled ?? false) || (listener.TLS?.Enabled ?? false);
  service.Hosts.forEach((host, index) => {
    const at = below(path, 'Hosts', index);
    if (host !== everyHost) checkHostname(host, 'first label', at, report);
    else if (hasTls) report(at, 'must not be "*" with TLS: no certificate is for every host');
  });
  checkHeaders(service, path, report);
  const sds = service.TLS?.SDS ?? null;
  const at = below(path, 'TLS', 'SDS');
  const inherited = [listener.TLS?.SDS, gateway.TLS?.SDS];
  checkSecretDiscovery(sds, { inherited, needsResource: true }, at, report);
  if (sds !== null && service.Hosts.length === 0) {
    report(below(path, 'Hosts'), 'must name the hosts that the certificate of TLS.SDS is for');
  }
}

/** Without HTTP there are no hosts and no headers. */
function checkTcpService(service: Service, path: Path, report: Report): void {
  if (service.Name === everyService) {
    report(below(path, 'Name'), 'must be one service with tcp, not "*"');
  }
  if (service.Hosts.length > 0) report(below(path, 'Hosts'), 'must not be given with tcp');
  for (const field of ['RequestHeaders', 'ResponseHeaders'] as const) {
    if (service[field] !== null) report(below(path, field), 'must not be given with tcp');
  }
}

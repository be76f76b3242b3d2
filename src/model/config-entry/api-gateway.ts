import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
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
  Whole,
} from '../schema.ts';
import { type ConfigEntry, entryFields } from './config-entry.ts';
import { connectionLimits } from './connection-limits.ts';
import { faultsOf } from './faults.ts';
import { StatusField } from './gateway-status.ts';
import { checkHostname, everyHost } from './hostname.ts';
import type { ConfigKind } from './kind.ts';
import { checkListenerPort } from './listener-port.ts';
import { placedReference } from './named-service.ts';
import { PortNumber } from './proxy-fields.ts';
import { keyOfReference, textOfKey } from './resource-reference.ts';
import { anyListener, checkSecretDiscovery, SecretDiscoveryField } from './secret-discovery.ts';
import { CipherSuites, gatewayTlsFields, TlsVersionChoice, tlsFaults } from './tls.ts';
import { checkTokenRequirements, TokenRequirements } from './token-requirements.ts';

export const certificateKinds = ['inline-certificate', 'file-system-certificate'] as const;
const protocols = ['http', 'tcp'] as const;

const CertificateReferenceSchema = Type.Object(
  {
    Kind: About('Kind of the entry.', Choice(certificateKinds, 'inline-certificate')),
    Name: About('Name of the certificate.', Text({ maxLength: limits.names.lengthMax }), {
      rules: 'required',
    }),
    Namespace: About('Namespace of the certificate.', Text(), { absent: 'that of the gateway' }),
    Partition: About('Partition of the certificate.', Text(), { absent: 'that of the gateway' }),
  },
  { title: 'CertificateReference' },
);

const ListenerTlsSchema = Type.Object(
  {
    Certificates: About(
      'The certificates of the listener; the first that fits the host is used.',
      FullList(CertificateReferenceSchema),
    ),
    MinVersion: About('The oldest accepted version.', TlsVersionChoice()),
    MaxVersion: About('The newest accepted version.', TlsVersionChoice(), {
      rules: 'not older than `MinVersion`',
    }),
    CipherSuites: CipherSuites(),
    SDS: SecretDiscoveryField(),
  },
  { title: 'ListenerTLS' },
);

const PolicySchema = Type.Object({ JWT: TokenRequirements() }, { title: 'ListenerPolicy' });

const ListenerSchema = Type.Object(
  {
    Name: About('The name that routes use.', Text(), {
      rules: 'required; letters, digits and hyphens; of no other listener',
    }),
    Hostname: About('The hosts that the listener accepts.', Text(), {
      absent: 'every host',
      rules: 'a host name, `*` for its whole first label, or `*`; not with tcp',
    }),
    Port: About('The port of the listener.', PortNumber(), {
      rules: 'at least 1; listeners of the same port speak http, each for its own hosts',
    }),
    Protocol: About('Protocol of the listener.', Choice(protocols, 'tcp')),
    MaxRequestHeadersKB: About(
      'Maximum size of the headers of a request, in KiB; 0: the default of the proxy, 60.',
      Nullable(Whole({ minimum: 0, maximum: 8192 })),
    ),
    TLS: About('The listener’s certificates and versions of TLS.', Nullable(ListenerTlsSchema)),
    Default: About('Default for routes without a setting.', Nullable(PolicySchema)),
    Override: About('Overrides the routes.', Nullable(PolicySchema)),
  },
  { title: 'Listener' },
);

const GatewayTlsSchema = Type.Object(
  {
    Enabled: About('Use TLS on all listeners.', Flag()),
    SDS: SecretDiscoveryField(),
    ...gatewayTlsFields(),
  },
  { title: 'GatewayTLS' },
);

const ApiGatewaySchema = Type.Object({
  ...entryFields,
  TLS: About('Default for listeners without a setting.', Nullable(GatewayTlsSchema)),
  Defaults: About(
    'Default for services without a setting.',
    Nullable(Type.Object(connectionLimits, { title: 'GatewayDefaults' })),
  ),
  Listeners: About('The listeners: at least one.', FullList(ListenerSchema)),
  Status: StatusField(),
  ...stamps,
});
export type ApiGateway = ConfigEntry & Model<typeof ApiGatewaySchema>;
export type GatewayListener = ApiGateway['Listeners'][number];

/** Source: docs/behaviour/gateways.md#api-gateways. `gateways.ts` sets its status. */
export const apiGateway: ConfigKind<ApiGateway> = {
  kind: 'api-gateway',
  summary: 'Listeners for traffic from outside; routes say where the traffic goes.',
  acts:
    'Its routes are bound to its listeners (`bound-api-gateway`), and its `Status` reports ' +
    'missing certificates and conflicting routes. Nothing listens on its ports: Roster runs no ' +
    'proxies.',
  deletion: {
    usedBy: '`http-route`, `tcp-route` (`Parents`)',
    outcome: 'refused while a route names it; its `bound-api-gateway` is deleted with it',
  },
  schema: ApiGatewaySchema,
  access: 'gateway',
  normalize: (gateway) => ({
    ...gateway,
    Listeners: gateway.Listeners.map((listener) => ({
      ...listener,
      Hostname: listener.Hostname.toLowerCase(),
      TLS: listener.TLS && {
        ...listener.TLS,
        Certificates: listener.TLS.Certificates.map((one) => placedReference(one, gateway)),
      },
    })),
  }),
  faults: (gateway) => [
    ...faultsOf((report) => {
      const sds = gateway.TLS?.SDS ?? null;
      checkSecretDiscovery(sds, anyListener, below(null, 'TLS', 'SDS'), report);
      if (gateway.Listeners.length === 0) {
        report(below(null, 'Listeners'), 'must have at least one listener');
      }
      gateway.Listeners.forEach((listener, index) => {
        const path = below(null, 'Listeners', index);
        checkListener(gateway, listener, path, report);
        checkAgainstEarlier(gateway.Listeners, index, path, report);
      });
    }),
    ...tlsFaultsOf(gateway),
  ],
  names: ({ Listeners }) =>
    Listeners.flatMap(({ TLS }) => TLS?.Certificates ?? []).map(keyOfReference),
  example: {
    Kind: 'api-gateway',
    Name: 'public',
    Listeners: [
      {
        Name: 'https',
        Port: 8443,
        Protocol: 'http',
        Hostname: '*.example.com',
        TLS: {
          MinVersion: 'TLSv1_2',
          Certificates: [{ Name: 'shop-on-disk', Kind: 'file-system-certificate' }],
        },
      },
      { Name: 'queue', Port: 5672, Protocol: 'tcp' },
    ],
  },
  exampleNeeds: [
    {
      Kind: 'file-system-certificate',
      Name: 'shop-on-disk',
      Certificate: '/etc/gateway/shop.crt',
      PrivateKey: '/etc/gateway/shop.key',
    },
  ],
};

function tlsFaultsOf({ TLS, Listeners }: ApiGateway): Fault[] {
  const path = below(null, 'TLS');
  const ofGateway =
    TLS === null
      ? []
      : tlsFaults(
          { least: TLS.TLSMinVersion, most: TLS.TLSMaxVersion, suites: TLS.CipherSuites },
          path,
        );
  const ofListeners = Listeners.flatMap((listener, index) => {
    if (listener.TLS === null) return [];
    const { MinVersion: least, MaxVersion: most, CipherSuites: suites } = listener.TLS;
    const names = { least: 'MinVersion', most: 'MaxVersion' };
    return tlsFaults({ least, most, suites }, below(null, 'Listeners', index, 'TLS'), names);
  });
  return [...ofGateway, ...ofListeners];
}

const listenerName = /^[A-Za-z0-9-]{1,256}$/;

function checkListener(
  gateway: ApiGateway,
  listener: GatewayListener,
  path: Path,
  report: Report,
): void {
  const { Name, Hostname, Port, Protocol, TLS, Default, Override } = listener;
  if (Name === '') report(below(path, 'Name'), 'is required');
  else if (!listenerName.test(Name)) {
    report(below(path, 'Name'), `must be letters, digits and hyphens, got ${quote(Name)}`);
  }
  if (Protocol === 'tcp') {
    if (Hostname !== '') report(below(path, 'Hostname'), 'must not be given with tcp');
  } else if (Hostname !== '' && Hostname !== everyHost) {
    checkHostname(Hostname, 'first label', below(path, 'Hostname'), report);
  }
  checkListenerPort(Port, below(path, 'Port'), report);
  if (TLS !== null) checkListenerTls(gateway, TLS, below(path, 'TLS'), report);
  for (const [field, policy] of Object.entries({ Default, Override })) {
    const at = below(path, field, 'JWT');
    if (policy?.JWT && Protocol === 'tcp') report(at, 'must not be given with tcp');
    checkTokenRequirements(policy?.JWT ?? null, at, report);
  }
}

function checkListenerTls(
  gateway: ApiGateway,
  tls: NonNullable<GatewayListener['TLS']>,
  path: Path,
  report: Report,
): void {
  const seen = new Set<string>();
  tls.Certificates.forEach((certificate, index) => {
    const at = below(path, 'Certificates', index, 'Name');
    const text = textOfKey(keyOfReference(certificate));
    if (certificate.Name === '') report(at, 'is required');
    else if (seen.has(text)) report(at, `${quote(certificate.Name)} is listed already`);
    seen.add(text);
  });
  const use = { inherited: [gateway.TLS?.SDS], needsResource: false };
  checkSecretDiscovery(tls.SDS, use, below(path, 'SDS'), report);
}

/** Routes name a listener by its name. Listeners of a port share its requests by host. */
function checkAgainstEarlier(
  listeners: readonly GatewayListener[],
  index: number,
  path: Path,
  report: Report,
): void {
  const listener = listeners[index]!;
  const earlier = listeners.slice(0, index);
  const sameName = earlier.findIndex(({ Name }) => Name !== '' && Name === listener.Name);
  if (sameName >= 0) {
    const of = `${quote(listener.Name)} is also the name of Listeners[${sameName}]`;
    report(below(path, 'Name'), of);
  }
  for (const [at, other] of earlier.entries()) {
    if (other.Port !== listener.Port || listener.Port === 0) continue;
    const shared = `shares port ${listener.Port} with Listeners[${at}]`;
    if (other.Protocol !== listener.Protocol) {
      report(below(path, 'Protocol'), `${shared} and must have its protocol, ${other.Protocol}`);
    } else if (listener.Protocol === 'tcp') {
      report(below(path, 'Port'), `${shared}: with tcp nothing tells the two apart`);
    } else if (hostOf(other) === hostOf(listener)) {
      report(
        below(path, 'Hostname'),
        `${shared} and must have a host of its own, got ${quote(hostOf(listener))}`,
      );
    } else continue;
    return;
  }
}

const hostOf = ({ Hostname }: GatewayListener): string => Hostname || everyHost;

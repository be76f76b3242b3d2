/**
 * Fields for proxies that several kinds share. Source: docs/behaviour/configuration.md#service-defaults.
 */
import type { Fault } from '../errors.ts';
import { below, faultAt, type Path } from '../path.ts';
import {
  About,
  Choice,
  CountedNanoseconds,
  Flag,
  FreeMap,
  List,
  type Model,
  Nullable,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';

const lastPort = 65_535;

export const PortNumber = () => Whole({ minimum: 0, maximum: lastPort });

export const ProxyMode = () =>
  About(
    'How outgoing traffic reaches the proxy: `direct`, or `transparent` for all traffic.',
    Choice(['', 'direct', 'transparent']),
  );

export const MutualTlsMode = () =>
  About(
    '`permissive`: connections without a certificate are accepted, too.',
    Choice(['', 'strict', 'permissive']),
    { rules: '`permissive` only if the mesh allows it or the stored entry has it' },
  );

export const TransparentProxySchema = Type.Object({
  OutboundListenerPort: About(
    'Port of the proxy for outgoing traffic of the service; 0: chosen by the proxy.',
    PortNumber(),
  ),
  DialedDirectly: About(
    'Whether instances of the service may be called by their own addresses.',
    Flag(),
  ),
});

export const MeshGatewaySchema = Type.Object({
  Mode: About(
    'The gateway for traffic to other clusters.',
    Choice(['', 'none', 'local', 'remote']),
  ),
});

export const ExposeSchema = Type.Object({
  Checks: About('Whether paths of checks are open without a certificate.', Flag()),
  Paths: About(
    'Paths that are open without a certificate.',
    List(
      Type.Object({
        ListenerPort: About('Port of the proxy for the path.', PortNumber()),
        Path: About('The path.', Text(), { rules: 'begins with `/`' }),
        LocalPathPort: About('Port of the service for the path.', PortNumber()),
        Protocol: About('Protocol of the service.', Choice(['', 'http', 'http2'])),
      }),
    ),
  ),
});

export const ProxyExtensionsList = () =>
  About(
    'Extensions of the proxy.',
    List(
      Type.Object({
        Name: About('Name of the extension.', Text(), { rules: 'required' }),
        Required: About('Whether a proxy fails without the extension.', Flag()),
        Arguments: About('Arguments of the extension.', FreeMap()),
        RegistryVersion: About(
          'The versions of the control plane that the extension supports.',
          Text(),
        ),
        EnvoyVersion: About('The versions of the proxy that the extension supports.', Text()),
      }),
    ),
  );

export const PassiveHealthCheckSchema = Type.Object({
  Interval: About('Interval of the check.', CountedNanoseconds({ minimum: 0 }), {
    rules: 'read back as nanoseconds',
  }),
  MaxFailures: About(
    'Number of consecutive failures that eject an instance.',
    Whole({ minimum: 0 }),
  ),
  EnforcingConsecutive5xx: About(
    'Probability, in percent, that a failing instance is ejected.',
    Nullable(Whole({ minimum: 0, maximum: 100 })),
  ),
  MaxEjectionPercent: About(
    'Maximum percentage of ejected instances.',
    Nullable(Whole({ minimum: 0, maximum: 100 })),
  ),
  BaseEjectionTime: About(
    'Duration of an ejection, multiplied by the number of ejections.',
    Nullable(CountedNanoseconds({ minimum: 0 })),
    { rules: 'read back as nanoseconds' },
  ),
});

export const HeaderModifiersSchema = Type.Object({
  Add: About('Headers that are added.', TextMap()),
  Set: About('Headers that replace others with the same name.', TextMap()),
  Remove: About('Headers that are removed.', List(Type.String())),
});

export type Expose = Model<typeof ExposeSchema>;
export type ProxyExtensions = Model<ReturnType<typeof ProxyExtensionsList>>;

export function exposeFaults({ Paths }: Expose, path: Path): Fault[] {
  return (Paths ?? []).flatMap(({ Path: exposed }, index) =>
    exposed.startsWith('/')
      ? []
      : [faultAt(below(path, 'Paths', index, 'Path'), 'must begin with "/"')],
  );
}

export function extensionFaults(extensions: ProxyExtensions, path: Path): Fault[] {
  return (extensions ?? []).flatMap(({ Name }, index) =>
    Name === '' ? [faultAt(below(path, index, 'Name'), 'is required')] : [],
  );
}

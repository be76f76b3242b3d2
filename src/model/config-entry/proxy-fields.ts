/**
 * Fields for proxies that several kinds have.
 * Source: docs/behaviour/configuration.md#service-defaults.
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
    'How what a service sends gets to its proxy: `direct`, or `transparent` for all of it.',
    Choice(['', 'direct', 'transparent']),
  );

export const MutualTlsMode = () =>
  About(
    'Whether connections without a certificate are taken as well: `permissive`.',
    Choice(['', 'strict', 'permissive']),
    { rules: 'permissive only where the mesh allows it, or where it was so before' },
  );

export const TransparentProxySchema = Type.Object({
  OutboundListenerPort: About(
    'Where the proxy takes what a service sends; 0: its own choice.',
    PortNumber(),
  ),
  DialedDirectly: About('Whether its instances may be called by their own addresses.', Flag()),
});

export const MeshGatewaySchema = Type.Object({
  Mode: About(
    'Through which gateway other clusters are reached.',
    Choice(['', 'none', 'local', 'remote']),
  ),
});

export const ExposeSchema = Type.Object({
  Checks: About('Whether paths of checks are open without a certificate.', Flag()),
  Paths: About(
    'Paths that are open without a certificate.',
    List(
      Type.Object({
        ListenerPort: About('Where the proxy listens for it.', PortNumber()),
        Path: About('The path.', Text()),
        LocalPathPort: About('Where the service answers it.', PortNumber()),
        Protocol: About('How it is spoken to.', Choice(['', 'http', 'http2'])),
      }),
    ),
  ),
});

export const ProxyExtensionsList = () =>
  About(
    'Extensions of the proxy.',
    List(
      Type.Object({
        Name: About('Of the extension.', Text()),
        Required: About('Whether a proxy is not set up without it.', Flag()),
        Arguments: About('What it takes.', FreeMap()),
        RegistryVersion: About('The versions of the control plane that it is for.', Text()),
        EnvoyVersion: About('The versions of the proxy that it is for.', Text()),
      }),
    ),
  );

export const PassiveHealthCheckSchema = Type.Object({
  Interval: About('Time between two looks.', CountedNanoseconds({ minimum: 0 }), {
    rules: 'read back as nanoseconds',
  }),
  MaxFailures: About('Failures in a row that take an instance out.', Whole({ minimum: 0 })),
  EnforcingConsecutive5xx: About(
    'Percent of the times that it is really taken out.',
    Nullable(Whole({ minimum: 0, maximum: 100 })),
  ),
  MaxEjectionPercent: About(
    'Percent of the instances that are out at most.',
    Nullable(Whole({ minimum: 0, maximum: 100 })),
  ),
  BaseEjectionTime: About(
    'How long it is out, times how often it was.',
    Nullable(CountedNanoseconds({ minimum: 0 })),
    { rules: 'read back as nanoseconds' },
  ),
});

export const HeaderModifiersSchema = Type.Object({
  Add: About('Headers that are added.', TextMap()),
  Set: About('Headers that take the place of others of their name.', TextMap()),
  Remove: About('Headers that are taken away.', List(Type.String())),
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

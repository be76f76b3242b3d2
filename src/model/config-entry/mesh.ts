import { below } from '../path.ts';
import { About, Flag, type Model, Nullable, stamps, Type } from '../schema.ts';
import { entryFields } from './config-entry.ts';
import type { ConfigKind } from './kind.ts';
import { CipherSuites, TlsVersionChoice, tlsFaults } from './tls.ts';

const TlsSchema = Type.Object({
  TLSMinVersion: About('The oldest accepted version of TLS.', TlsVersionChoice()),
  TLSMaxVersion: About('The newest accepted version of TLS.', TlsVersionChoice()),
  CipherSuites: CipherSuites(),
});

export const MeshSchema = Type.Object({
  ...entryFields,
  TransparentProxy: Type.Object({
    MeshDestinationsOnly: About('Whether proxies block traffic out of the mesh.', Flag()),
  }),
  AllowEnablingPermissiveMutualTLS: About(
    'Whether `MutualTLSMode` may become `permissive` anywhere.',
    Flag(),
  ),
  TLS: About(
    'Between proxies.',
    Nullable(
      Type.Object({
        Incoming: About('TLS of connections to a proxy.', Nullable(TlsSchema)),
        Outgoing: About('TLS of connections from a proxy.', Nullable(TlsSchema)),
      }),
    ),
  ),
  HTTP: About(
    'Of requests.',
    Nullable(
      Type.Object({
        SanitizeXForwardedClientCert: About(
          'Whether the header with the client certificate is removed.',
          Flag(),
        ),
      }),
    ),
  ),
  Peering: About(
    'Of peers.',
    Nullable(
      Type.Object({
        PeerThroughMeshGateways: About('Whether peers are reached through gateways.', Flag()),
      }),
    ),
  ),
  ...stamps,
});
export type MeshEntry = Model<typeof MeshSchema> & { readonly Kind: 'mesh' };

/** Source: docs/behaviour/configuration.md#mesh. */
export const mesh: ConfigKind<MeshEntry> = {
  kind: 'mesh',
  summary: 'Settings of the whole mesh of a partition.',
  acts:
    '`AllowEnablingPermissiveMutualTLS` decides whether other entries are accepted. All other ' +
    'fields are settings of proxies and gateways.',
  deletion: {
    usedBy: 'entries that are `permissive`',
    outcome: 'allowed: `permissive` entries stay, and no other entry can become `permissive`',
  },
  schema: MeshSchema,
  access: 'open',
  onlyName: () => 'mesh',
  ofPartition: true,
  faults: ({ TLS }) =>
    (['Incoming', 'Outgoing'] as const).flatMap((side) => {
      const tls = TLS?.[side];
      if (!tls) return [];
      const { TLSMinVersion: least, TLSMaxVersion: most, CipherSuites: suites } = tls;
      return tlsFaults({ least, most, suites }, below(null, 'TLS', side));
    }),
  example: {
    Kind: 'mesh',
    TransparentProxy: { MeshDestinationsOnly: true },
    TLS: { Incoming: { TLSMinVersion: 'TLSv1_2' } },
    Peering: { PeerThroughMeshGateways: false },
  },
};

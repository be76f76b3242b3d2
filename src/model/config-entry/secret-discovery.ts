import { limits } from '../limits.ts';
import { below, type Path, type Report } from '../path.ts';
import { About, type Model, Nullable, Text, Type } from '../schema.ts';

const SecretDiscoverySchema = Type.Object(
  {
    ClusterName: About(
      "The cluster, in the proxy's bootstrap configuration, that provides certificates.",
      Text({ maxLength: limits.names.lengthMax }),
      { absent: 'the cluster of the listener, or of the gateway' },
    ),
    CertResource: About(
      'The name of the certificate in that cluster.',
      Text({ maxLength: limits.names.lengthMax }),
      { rules: 'required for a service; a gateway or listener may have `ClusterName` alone' },
    ),
  },
  { title: 'SDS' },
);
type SecretDiscovery = Model<typeof SecretDiscoverySchema>;

export const SecretDiscoveryField = () =>
  About('Certificates from a secret discovery service.', Nullable(SecretDiscoverySchema));

/** The place of a configuration of secret discovery. */
interface DiscoveryUse {
  /** Configurations from which it inherits a cluster; `undefined` if they are not known. */
  readonly inherited: readonly (SecretDiscovery | null | undefined)[] | undefined;
  readonly needsResource: boolean;
}

/** A gateway may name a cluster alone, for its listeners. */
export const anyListener: DiscoveryUse = { inherited: [], needsResource: false };
/** The gateways of a route are not known. */
export const anyRoute: DiscoveryUse = { inherited: undefined, needsResource: true };

/**
 * Checks that a resource has a cluster: its own, or an inherited one.
 * Source: docs/behaviour/gateways.md#secret-discovery.
 */
export function checkSecretDiscovery(
  sds: SecretDiscovery | null,
  { inherited, needsResource }: DiscoveryUse,
  path: Path,
  report: Report,
): void {
  if (sds === null) return;
  if (sds.CertResource === '') {
    if (needsResource) report(below(path, 'CertResource'), 'is required');
    else if (sds.ClusterName === '') report(path, 'must have a ClusterName or a CertResource');
    return;
  }
  if (inherited === undefined) return;
  const hasCluster = [sds, ...inherited].some((one) => (one?.ClusterName ?? '') !== '');
  if (!hasCluster) report(below(path, 'ClusterName'), 'is required where none is inherited');
}

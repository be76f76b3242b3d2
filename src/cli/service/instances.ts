import type { ServiceRegistration } from '../../model/service-registration/service-registration.ts';
import type { Context } from '../context.ts';
import { oneLine, orDash } from '../render/text.ts';

const addressOf = ({ Address, Port }: ServiceRegistration): string => {
  const host = oneLine(Address);
  if (Port === 0) return host === '' ? '-' : host;
  return `${host.includes(':') ? `[${host}]` : host}:${Port}`;
};

/**
 * The instances of services with their status, and with the names of several services. For the
 * instances of a peer, job and node are unknown.
 */
export async function printInstances(
  { screen, id, isVerbose, namespace }: Context,
  instances: readonly ServiceRegistration[],
  { isNamed = false, ofPeer = false } = {},
): Promise<void> {
  const everywhere = namespace === '*';
  await screen.table(
    [
      ...(isNamed ? ['Service'] : []),
      ...(everywhere ? ['Namespace'] : []),
      'Status',
      'Address',
      'Tags',
      ...(ofPeer ? ['Datacenter'] : ['Job', 'Node', 'Alloc']),
      ...(isVerbose ? ['ID'] : []),
    ],
    instances.map((one) => [
      ...(isNamed ? [oneLine(one.ServiceName)] : []),
      ...(everywhere ? [oneLine(one.Namespace)] : []),
      screen.status(one.Status),
      addressOf(one),
      orDash((one.Tags ?? []).join(', ')),
      ...(ofPeer
        ? [oneLine(one.Datacenter) || '-']
        : [oneLine(one.JobID), id(one.NodeID), id(one.AllocID)]),
      ...(isVerbose ? [oneLine(one.ID)] : []),
    ]),
  );
}

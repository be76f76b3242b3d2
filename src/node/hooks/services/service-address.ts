/**
 * The address of an instance of a service. Source: docs/behaviour/job-specification.md#services.
 *
 * A task without its own network has the host's address, whatever the mode says.
 */
import type { AllocatedPort } from '../../../model/allocation/allocated-resources.ts';
import type { Allocation } from '../../../model/allocation/allocation.ts';

export interface WantedAddress {
  /** A label, a number, or empty. */
  readonly portLabel: string;
  readonly mode: string;
  readonly task: string;
}

export interface ServiceAddress {
  readonly host: string;
  /** 0: none. */
  readonly port: number;
}

/** `undefined`: the allocation has no such port. */
export function serviceAddress(
  allocation: Pick<Allocation, 'AllocatedResources' | 'NetworkStatus'>,
  { portLabel, mode, task }: WantedAddress,
  nodeAddress: string,
): ServiceAddress | undefined {
  const own = ownAddress(allocation, mode);
  if (portLabel === '') return { host: own ?? nodeAddress, port: 0 };
  const port = portsOf(allocation, task).find(({ Label }) => Label === portLabel);
  if (port !== undefined) {
    if (own !== undefined) return { host: own, port: port.To > 0 ? port.To : port.Value };
    return { host: port.HostIP || nodeAddress, port: port.Value };
  }
  if (!/^\d{1,5}$/.test(portLabel)) return undefined;
  return { host: own ?? nodeAddress, port: Number(portLabel) };
}

/** The address in the allocation's own network, if the mode asks for it and there is one. */
function ownAddress({ NetworkStatus }: Pick<Allocation, 'NetworkStatus'>, mode: string) {
  if (NetworkStatus === null) return undefined;
  if (mode === 'alloc_ipv6') return NetworkStatus.AddressIPv6 || undefined;
  if (mode === 'alloc' || mode === 'driver') return NetworkStatus.Address || undefined;
  return undefined;
}

function portsOf(
  { AllocatedResources: { Shared, Tasks } }: Pick<Allocation, 'AllocatedResources'>,
  task: string,
): readonly AllocatedPort[] {
  const networks = [...(Tasks[task]?.Networks ?? []), ...(Shared.Networks ?? [])];
  const inNetworks = networks.flatMap(({ IP, ReservedPorts, DynamicPorts }) =>
    [...ReservedPorts, ...DynamicPorts].map((port) => ({ ...port, HostIP: port.HostIP || IP })),
  );
  return [...(Shared.Ports ?? []), ...inNetworks];
}

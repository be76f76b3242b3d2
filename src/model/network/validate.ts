import { below, type Path, quote, type Report } from '../path.ts';
import { checkUnique, hasInterpolation } from '../text-rules.ts';
import { defaultHostNetwork, type Network, type Port } from './network.ts';

/** A network with its place, since labels are unique over a whole group. */
export interface PlacedNetwork {
  readonly network: Network;
  readonly path: Path;
  /** Only the first network of a group is used. */
  readonly isUsed: boolean;
}

const hostname =
  /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

interface PlacedPort {
  readonly port: Port;
  readonly path: Path;
  readonly isStatic: boolean;
  readonly mode: string;
}

function portsOf({ network, path }: PlacedNetwork): PlacedPort[] {
  const list = (name: 'ReservedPorts' | 'DynamicPorts'): PlacedPort[] =>
    (network[name] ?? []).map((port, index) => ({
      port,
      path: below(path, name, index),
      isStatic: name === 'ReservedPorts',
      mode: network.Mode,
    }));
  return [...list('ReservedPorts'), ...list('DynamicPorts')];
}

/** Validates the networks of a group and its tasks. Source: docs/behaviour/job-specification.md#networks. */
export function validateNetworks(networks: readonly PlacedNetwork[], report: Report): void {
  for (const { network, path } of networks) {
    if (network.Hostname !== '' && !hasInterpolation(network.Hostname)) {
      if (!hostname.test(network.Hostname)) {
        report(below(path, 'Hostname'), `is not a host name: ${quote(network.Hostname)}`);
      }
    }
    for (const [name, value] of Object.entries(network.CNI?.Args ?? {})) {
      if (`${name}${value}`.includes(';')) report(below(path, 'CNI', 'Args', name), 'holds a ";"');
    }
  }
  const ports = networks.flatMap(portsOf);
  for (const port of ports) validatePort(port, report);
  checkUnique(
    ports.map(({ port }) => port.Label),
    (index) => below(ports[index]!.path, 'Label'),
    report,
  );
  validateStaticPorts(ports, report);
}

function validatePort({ port, path, isStatic, mode }: PlacedPort, report: Report): void {
  if (port.Label === '') report(below(path, 'Label'), 'is required');
  if (isStatic && port.Value === 0) report(below(path, 'Value'), 'is required for a reserved port');
  if (port.IgnoreCollision && mode !== '' && mode !== 'host') {
    report(below(path, 'IgnoreCollision'), 'is only possible in host mode');
  }
}

function validateStaticPorts(ports: readonly PlacedPort[], report: Report): void {
  const seen = new Set<string>();
  for (const { port, path, isStatic } of ports) {
    if (!isStatic || port.IgnoreCollision || port.Value === 0) continue;
    const network = port.HostNetwork || defaultHostNetwork;
    const key = `${network} ${port.Value}`;
    if (seen.has(key)) {
      report(
        below(path, 'Value'),
        `${port.Value} is taken already on the host network "${network}"`,
      );
    }
    seen.add(key);
  }
}

import { limits } from '../limits.ts';
import type { DriverInfo, Node } from './node.ts';

/** The drivers that a node can have. */
export const driverNames = ['docker', 'exec', 'java', 'raw_exec'] as const;

/** Tasks of this driver run as the agent's user, so submitters of such jobs have the rights of that user. */
export const unguardedDriver = 'raw_exec';

/** The node's information about a driver; `undefined` for an unknown name. */
const infoOf = ({ Drivers }: Pick<Node, 'Drivers'>, name: string): DriverInfo | undefined =>
  Object.hasOwn(Drivers, name) ? Drivers[name] : undefined;

/** Whether the node can run tasks with the driver. */
export function hasDriver(node: Pick<Node, 'Drivers'>, name: string): boolean {
  const info = infoOf(node, name);
  return info?.Detected === true && info.Healthy;
}

/** The lack of the driver in a few words, with the node's own reason. */
export function lackOfDriver(node: Pick<Node, 'Drivers'>, name: string): string {
  const kind = infoOf(node, name)?.Detected === true ? 'unhealthy' : 'missing';
  const reason = driverReason(node, name);
  return reason === '' ? `${kind} driver ${name}` : `${kind} driver ${name}: ${reason}`;
}

/** The node's reason that it cannot use a driver; `''` if it gives none. */
export function driverReason(node: Pick<Node, 'Drivers'>, name: string): string {
  const { driverReasonLengthMax } = limits.node;
  const said = infoOf(node, name)?.HealthDescription ?? '';
  return said.length > driverReasonLengthMax ? `${said.slice(0, driverReasonLengthMax)}…` : said;
}

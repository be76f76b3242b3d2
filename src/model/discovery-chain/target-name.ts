import type { ServiceName } from '../config-entry/kind.ts';

/** A target of a chain: instances of a service. `peer` and `subset` may be empty. */
export interface ChainTargetName extends ServiceName {
  readonly subset: string;
  readonly datacenter: string;
  readonly peer: string;
}

export const isSameTarget = (left: ChainTargetName, right: ChainTargetName): boolean =>
  left.name === right.name &&
  left.subset === right.subset &&
  left.namespace === right.namespace &&
  left.partition === right.partition &&
  left.datacenter === right.datacenter &&
  left.peer === right.peer;

/** A name may have a dot in it: unless it is escaped, two places could have the same id. */
const part = (text: string): string =>
  /[.%]/.test(text) ? text.replaceAll('%', '%25').replaceAll('.', '%2E') : text;

/** `web.default.default`: the service, its namespace and its partition. */
export const serviceId = ({ name, namespace, partition }: ServiceName): string =>
  `${part(name)}.${part(namespace)}.${part(partition)}`;

/**
 * `v1.web.default.default.dc1`, and `web.default.default.external.east` at a peer. `service` is the id of the
 * service, if the caller has it.
 */
export function targetId(place: ChainTargetName, service = serviceId(place)): string {
  const subset = place.subset === '' ? '' : `${part(place.subset)}.`;
  const where = place.peer === '' ? part(place.datacenter) : `external.${part(place.peer)}`;
  return `${subset}${service}${where === '' ? '' : `.${where}`}`;
}

/** The place in words, without default namespace and partition. */
export function targetWords(place: ChainTargetName): string {
  const subset = place.subset === '' ? '' : `subset "${place.subset}" of `;
  const where = place.peer === '' ? '' : ` at the peer "${place.peer}"`;
  const datacenter = place.datacenter === '' ? '' : ` in ${place.datacenter}`;
  return `${subset}"${place.name}"${where || datacenter}`;
}
